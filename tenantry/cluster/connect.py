"""Connects to a management cluster with an ordinary Kubernetes client, for the command line and for the Pulumi program.

lightkube is imported where it is used: it takes a tenth of a second, and most commands need no cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cluster import kubeconfig as kubeconfigs
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused

if TYPE_CHECKING:
    import httpx2
    from lightkube.config.kubeconfig import SingleConfig

    from tenantry.cluster.client import Client

CONNECT_TIMEOUT = 10.0
"""Seconds a cluster has for each step of its first answer, which takes milliseconds where all is well."""
LISTING = 60.0
"""The same for later answers, which may list thousands of objects."""

_RENEW = "renew it, or choose another context with --context, or: pulumi config set tenantry:context NAME"
_CHECK = "check its address and that it runs, or choose another context with --context, or: pulumi config set tenantry:context NAME"


def connect(kubeconfig: Path | None, context: str | None, seconds: float = LISTING) -> Client:
    """A client for a cluster that has just answered and accepted the credentials.

    Args:   kubeconfig: None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the current one.
            seconds: how long each step of a later answer may take.
    Raises: Refused: names, in one line and without secrets, which file, context, server or credentials are wrong.
    """
    import httpx2

    config = kubeconfigs.select(kubeconfig, context)
    with ExitStack() as opened:
        with _explained(config), answering(config):
            client = opened.enter_context(_client(config, httpx2.Timeout(CONNECT_TIMEOUT)))
            _ask_who_we_are(client)
        client.http.timeout = httpx2.Timeout(seconds)
        opened.pop_all()  # the caller closes it
    return client


def connect_remote(config: SingleConfig, seconds: float) -> Client:
    """A client that has sent no request yet, with a timeout for each step of an answer.

    Raises: Refused: a certificate or key cannot be used.
    """
    import httpx2

    return _client(config, httpx2.Timeout(seconds))


def _client(config: SingleConfig, timeout: httpx2.Timeout) -> Client:
    from tenantry.cluster.client import Client

    # A missing file, invalid base64 or invalid PEM: the exceptions do not say which.
    with suppress(OSError, ValueError):
        return Client(config, timeout=timeout)
    raise Refused(f"a certificate or key of {_context_name(config)} cannot be used", _RENEW)


def _ask_who_we_are(client: Client) -> None:
    """Send a request that every authenticated identity may send, and nobody else."""
    from lightkube import ApiError
    from lightkube.resources.authentication_v1 import SelfSubjectReview

    try:
        client.create(SelfSubjectReview())
    except ApiError as error:
        # Kubernetes before 1.28 has no such API, but has checked the credentials all the same.
        if error.response.status_code != HTTPStatus.NOT_FOUND:
            raise


@contextmanager
def answering(config: SingleConfig) -> Iterator[None]:
    """Report in one line that a cluster does not answer, or no longer does. Raises: Refused."""
    import httpx2

    try:
        yield
    except httpx2.TimeoutException:
        raise Refused(f"cluster {config.cluster.server} did not answer in time", _CHECK, code=UNREACHABLE) from None
    except httpx2.RequestError as error:
        raise Refused(f"cluster {config.cluster.server} cannot be reached: {error}", _CHECK, code=UNREACHABLE) from None


@contextmanager
def _explained(config: SingleConfig) -> Iterator[None]:
    """Report any other failure of the first request in one line."""
    import httpx2
    from lightkube.core.exceptions import ConfigError

    server = config.cluster.server
    try:
        yield
    except httpx2.HTTPStatusError as error:
        status = error.response.status_code
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            problem = f"cluster {server} refused the credentials of {_context_name(config)} ({status})"
            raise Refused(problem, _RENEW, code=NOT_ALLOWED) from None
        raise Refused(f"cluster {server} answered with status {status}", _CHECK, code=UNREACHABLE) from None
    except ConfigError as error:
        raise Refused(
            f"no credentials from {_context_name(config)}: {' '.join(str(error).split())}", "log in again"
        ) from None
    except (KeyError, OSError, ValueError):
        raise Refused(
            f"no credentials from {_context_name(config)}, or {server} is not a Kubernetes API server", _CHECK
        ) from None


def _context_name(config: SingleConfig) -> str:
    return f"context '{config.context_name}' of kubeconfig {config.fname}"
