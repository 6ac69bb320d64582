"""Connects to a cluster, and reports in one line whatever can be wrong with it: to a management cluster with somebody's kubeconfig,
to the cluster of an app as Flux goes there, with the kubeconfig of its Secret and as the tenant's service account.

Never: quotes a part of a kubeconfig, runs a command that Flux's kubeconfig names, or reads with more rights than the account has.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster.kubeconfig import OTHER_CONTEXT, RENEW, Access, of_secret, select
from tenantry.cluster.requests import AUTHENTICATION, one, seen_as
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused
from tenantry.model import SecretKey

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


CONNECT_TIMEOUT = 10.0
"""Seconds a cluster has for each step of its first answer, which takes milliseconds where all is well."""
LISTING = 60.0
"""The same for later answers, which may list thousands of objects."""
_CHECK = f"check its address and that it runs, or {OTHER_CONTEXT}"


def connect(kubeconfig: Path | None, context: str | None, seconds: float = LISTING) -> Client:
    """A client for a cluster that has just answered and accepted the credentials.

    Args:   kubeconfig: None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the current one.
            seconds: how long each step of a later answer may take.
    Raises: Refused: names, in one line and without secrets, which file, context, server or credentials are wrong.
    """
    import httpx2

    access = select(kubeconfig, context)
    with ExitStack() as opened:
        try:
            with answering(access):
                client = opened.enter_context(connect_remote(access, CONNECT_TIMEOUT))
                _ask_who_we_are(client)
        except (KeyError, OSError, ValueError):
            server = access.cluster.server
            raise Refused(f"no answer of an API server from {server}, which {access} names", _CHECK) from None
        client.http.timeout = httpx2.Timeout(seconds)
        opened.pop_all()  # the caller closes it
    return client


@contextmanager
def connected(way: tuple[Path | None, str | None], seconds: float = LISTING) -> Iterator[Client]:
    """A client for a management cluster, which has just answered. Args: way: a kubeconfig and a context, as for `connect`.

    Raises: Refused: it cannot be reached, or stops answering.
    """
    with connect(*way, seconds) as client, answering(client):
        yield client


def connect_remote(access: Access, seconds: float | None = None) -> Client:
    """A client that has sent no request yet, with a timeout for each step of an answer; None: `TIMEOUT`.

    Raises: Refused: a certificate, a key or a proxy cannot be used.
    """
    import httpx2

    from tenantry.cluster.client import Client

    return Client(access, httpx2.Timeout(seconds or TIMEOUT))


def _ask_who_we_are(client: Client) -> None:
    """Send a request that every authenticated identity may send, and nobody else.

    Raises: Refused: the answer is another one than that of an API server to whom it knows. ValueError: it is none.
    """
    review = {"apiVersion": AUTHENTICATION, "kind": "SelfSubjectReview"}
    answer = client.http.post(f"/apis/{AUTHENTICATION}/selfsubjectreviews", json=review)
    cluster, status = f"cluster {client.access.cluster.server}", answer.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        problem = f"{cluster} refused the credentials of {client.access} ({status})"
        raise Refused(problem, RENEW, code=NOT_ALLOWED)
    if not answer.is_success:
        raise Refused(f"{cluster} answered with status {status}", _CHECK, code=UNREACHABLE)
    answer.json()


@contextmanager
def answering(asked: Access | Client) -> Iterator[None]:
    """Report in one line that a cluster does not answer, or no longer does. Raises: Refused."""
    import httpx2

    access = asked if isinstance(asked, Access) else asked.access
    server = f"cluster {access.cluster.server}"
    try:
        yield
    except httpx2.TimeoutException:
        raise Refused(f"{server} did not answer in time", _CHECK, code=UNREACHABLE) from None
    except httpx2.RequestError as error:
        raise Refused(f"{server} cannot be reached: {error}", _CHECK, code=UNREACHABLE) from None


# --- the clusters of apps ---------------------------------------------------------------------------------------------

TIMEOUT = 5.0
"""Seconds for each step of an answer. A person waits, and a cluster that Flux reaches may be unreachable from here."""

NO_SECRET = "no-secret"


class Way(NamedTuple):
    """kubeconfig: where Flux finds it; None: the app is on the management cluster, or `by_identity`. user: whom Flux impersonates.

    by_identity: whether Flux alone gets a token, by workload identity.
    """

    kubeconfig: SecretKey | None
    user: str
    by_identity: bool = False

    @property
    def is_remote(self) -> bool:
        return self.kubeconfig is not None or self.by_identity


def way_of(reconciler: Manifest) -> Way:
    """The way that Flux goes for a Kustomization or a HelmRelease."""
    spec, namespace = mapping_at(reconciler, "spec"), str(mapping_at(reconciler, "metadata").get("namespace"))
    account = spec.get("serviceAccountName")
    user = f"system:serviceaccount:{namespace}:{account}" if account else ""
    secret = mapping_at(spec, "kubeConfig", "secretRef")
    if secret:
        key = SecretKey(name=str(secret.get("name")), namespace=namespace, key=str(secret.get("key") or "value"))
        return Way(key, user)
    return Way(None, user, by_identity="kubeConfig" in spec)


@contextmanager
def reached(hub: Client, way: Way) -> Iterator[tuple[Client, str, str]]:
    """A client for an app's cluster, which has answered; as whom it reads, "": as who asked; and what is not as Flux does it.

    On a remote cluster it reads as the tenant's account or not at all: the kubeconfig of the Secret is an administrator's. On
    the management cluster, a person who may not impersonate the account reads with the own rights.
    Raises: Refused: the cluster cannot be read; the code is UNREACHABLE if it does not answer.
    """
    if way.by_identity:
        fix = "look at it with kubectl and credentials of your own"
        raise Refused("Flux alone gets its token, by workload identity", fix, code=NOT_ALLOWED)
    config = hub.access if way.kubeconfig is None else of_secret(kubeconfig_of(hub, way.kubeconfig))
    with connect_remote(config) as client, answered():
        note = ""
        if way.is_remote and not way.user:
            raise Refused(
                "Flux's object names no service account", "name one: it is what reads there", code=NOT_ALLOWED
            )
        try:
            seen = seen_as(client, way.user) if way.user else ""
        except ValueError:
            raise Refused("its address is no API server", _RUNS, code=UNREACHABLE) from None
        except Refused as refused:
            if refused.code != NOT_ALLOWED:
                raise
            if "401" in refused.message:
                raise Refused(
                    "it does not accept the credentials of the kubeconfig that Flux uses",
                    "have the kubeconfig's writer renew it",
                    code=NOT_ALLOWED,
                ) from None
            if way.is_remote:
                raise Refused(
                    f"its kubeconfig may not impersonate '{way.user}', as Flux does",
                    "give its user on the cluster the verb 'impersonate' for 'serviceaccounts'",
                    code=NOT_ALLOWED,
                ) from None
            note = f"read with your own rights, because you may not impersonate '{way.user}'"
        else:
            # Where a proxy drops the header, it would be read as the kubeconfig's administrator.
            if seen != way.user:
                raise Refused(
                    f"who impersonates '{way.user}' there is seen as somebody else",
                    "have the proxy before the cluster pass on impersonation",
                    code=NOT_ALLOWED,
                )
        if way.user and not note:
            client.http.headers["Impersonate-User"] = way.user
        yield client, "" if note else way.user, note


def kubeconfig_of(hub: Client, reference: SecretKey) -> bytes:
    """The kubeconfig that Flux uses, from its Secret. Never print it. Raises: Refused: it is missing, or may not be read."""
    secret = one(hub, ObjectId("v1", "Secret", reference.namespace, reference.name))
    data = mapping_at(secret or {}, "data")
    if reference.key not in data:
        missing = "Secret" if secret is None else f"key '{reference.key}' in Secret"
        what = f"there is no {missing} {reference.namespace}/{reference.name}"
        raise Refused(
            what, "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml", code=NO_SECRET
        )
    return base64.b64decode(data[reference.key])


@contextmanager
def answered(seconds: float = TIMEOUT) -> Iterator[None]:
    """Say in one line, without an address, that a cluster does not answer. seconds: how long it had. Raises: Refused."""
    import httpx2

    try:
        yield
    except httpx2.TimeoutException:
        raise Refused(f"it did not answer within {seconds:.0f} seconds", _RUNS, code=UNREACHABLE) from None
    except (httpx2.HTTPError, OSError) as error:
        raise Refused(why_unreached(error), _RUNS, code=UNREACHABLE) from None


_RUNS = "check that it runs, and that it can be reached from here"
_KNOWN = {
    "refused": "it refuses the connection",
    "certificate": "its certificate is not accepted",
    "Name or service": "its name is not known here",
    "No route": "there is no route to it from here",
    "unreachable": "there is no route to it from here",
    "reset": "it closed the connection",
    "disconnected": "it closed the connection",
}


def why_unreached(error: Exception) -> str:
    """Why a cluster gives no answer. The text of the exception can contain the address, so only what is known is reported."""
    text = str(error)
    return next((reason for word, reason in _KNOWN.items() if word in text), "it cannot be reached from here")
