"""Connects to a cluster, and reports in one line whatever can be wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cluster.kubeconfig import OTHER_CONTEXT, RENEW, Access, select
from tenantry.cluster.requests import AUTHENTICATION
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused

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
        with _explained(access), answering(access):
            client = opened.enter_context(connect_remote(access, CONNECT_TIMEOUT))
            _ask_who_we_are(client)
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


def connect_remote(access: Access, seconds: float) -> Client:
    """A client that has sent no request yet, with a timeout for each step of an answer.

    Raises: Refused: a certificate, a key or a proxy cannot be used.
    """
    import httpx2

    from tenantry.cluster.client import Client

    return Client(access, httpx2.Timeout(seconds))


def _ask_who_we_are(client: Client) -> None:
    """Send a request that every authenticated identity may send, and nobody else."""
    review = {"apiVersion": AUTHENTICATION, "kind": "SelfSubjectReview"}
    answer = client.http.post(f"/apis/{AUTHENTICATION}/selfsubjectreviews", json=review)
    # Kubernetes before 1.28 has no such API, but has checked the credentials all the same.
    if answer.status_code != HTTPStatus.NOT_FOUND or "json" not in answer.headers.get("Content-Type", ""):
        answer.raise_for_status()
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


@contextmanager
def _explained(access: Access) -> Iterator[None]:
    """Report any other failure of the first request in one line."""
    import httpx2

    server = access.cluster.server
    try:
        yield
    except httpx2.HTTPStatusError as error:
        status = error.response.status_code
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            problem = f"cluster {server} refused the credentials of {access} ({status})"
            raise Refused(problem, RENEW, code=NOT_ALLOWED) from None
        raise Refused(f"cluster {server} answered with status {status}", _CHECK, code=UNREACHABLE) from None
    except (KeyError, OSError, ValueError):
        raise Refused(f"no answer of an API server from {server}, which {access} names", _CHECK) from None
