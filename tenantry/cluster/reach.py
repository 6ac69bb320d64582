"""The way to the cluster of an app, as Flux goes it: with the kubeconfig of its Secret, as the tenant's service account.

Called by: `why`.
Never: quotes a part of a kubeconfig, runs a command that one names, or reads with more rights than the account has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster.connect import connect_remote
from tenantry.cluster.inventory import secret_of
from tenantry.cluster.kubeconfig import Access, of_secret
from tenantry.cluster.requests import seen_as
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused
from tenantry.model import SecretKey

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

TIMEOUT = 5.0
"""Seconds for each step of an answer. A person waits, and a cluster that Flux reaches may be unreachable from here."""

NO_SECRET = "no-secret"
Connect = Callable[[Access], "Client"]


class Way(NamedTuple):
    """kubeconfig: where Flux finds it; None: the app is on the management cluster, or `by_identity`. user: whom Flux impersonates.

    by_identity: whether Flux alone gets a token, by workload identity. hub: of Flux's object, as in `ObjectId`.
    """

    kubeconfig: SecretKey | None
    user: str
    by_identity: bool = False

    @property
    def is_remote(self) -> bool:
        return self.kubeconfig is not None or self.by_identity


@dataclass(frozen=True, slots=True)
class Reached:
    """A client for an app's cluster. user: as whom it reads; "": as the person who asked. note: what is not as Flux does it."""

    client: Client = field(repr=False)
    user: str
    note: str = ""


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


def connected(config: Access) -> Client:
    """A client that has sent no request yet."""
    return connect_remote(config, TIMEOUT)


@contextmanager
def reached(hub: Client, way: Way, connect: Connect = connected) -> Iterator[Reached]:
    """A client for the cluster, which has answered.

    On a remote cluster it reads as the tenant's account or not at all: the kubeconfig of the Secret is an administrator's. On
    the management cluster, a person who may not impersonate the account reads with the own rights.
    Raises: Refused: the cluster cannot be read; the code is UNREACHABLE if it does not answer.
    """
    if way.by_identity:
        fix = "look at it with kubectl and credentials of your own"
        raise Refused("Flux alone gets its token, by workload identity", fix, code=NOT_ALLOWED)
    config = hub.access if way.kubeconfig is None else of_secret(kubeconfig_of(hub, way.kubeconfig))
    with connect(config) as client, answered():
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
            if not seen and way.is_remote:
                # Where a proxy drops the header, it would be read as the kubeconfig's administrator.
                raise Refused(
                    f"it does not say as whom it would be read, so nobody knows whether that is '{way.user}'",
                    "upgrade its Kubernetes to 1.28 or newer",
                    code=NOT_ALLOWED,
                )
            if seen and seen != way.user:
                raise Refused(
                    f"who impersonates '{way.user}' there is seen as somebody else",
                    "have the proxy before the cluster pass on impersonation",
                    code=NOT_ALLOWED,
                )
        if way.user and not note:
            client.http.headers["Impersonate-User"] = way.user
        yield Reached(client, "" if note else way.user, note)


def kubeconfig_of(hub: Client, reference: SecretKey) -> bytes:
    """The kubeconfig that Flux uses, from its Secret. Never print it. Raises: Refused: it is missing, or may not be read."""
    secret = secret_of(hub, reference)
    if secret is None or reference.key not in secret:
        missing = "Secret" if secret is None else f"key '{reference.key}' in Secret"
        what = f"there is no {missing} {reference.namespace}/{reference.name}"
        raise Refused(
            what, "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml", code=NO_SECRET
        )
    return secret[reference.key]


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
