"""Connects to a cluster: selects a context of a kubeconfig, and reports in one line whatever can be wrong with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from difflib import SequenceMatcher
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from tenantry.cluster.requests import AUTHENTICATION
from tenantry.kube.yaml_text import document
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused

if TYPE_CHECKING:
    import httpx2
    from lightkube.config.kubeconfig import KubeConfig, SingleConfig

    from tenantry.cluster.client import Client


_OTHER_FILE = "name another with --kubeconfig, or: pulumi config set tenantry:kubeconfig FILE"
_OTHER_CONTEXT = "choose another context with --context, or: pulumi config set tenantry:context NAME"


def select(file: Path | None, context: str | None) -> SingleConfig:
    """The server and the credentials of one context.

    Args:   file: None: the file that KUBECONFIG names, else ~/.kube/config. context: None: the file's current one.
    Raises: Refused: the file or context does not exist or is invalid.
    """
    from lightkube.core.exceptions import ConfigError

    if file is None:
        files = [name for name in os.environ.get("KUBECONFIG", "").split(os.pathsep) if name]
        if len(files) > 1:
            raise Refused(f"KUBECONFIG names {len(files)} files, but only one is supported", _OTHER_FILE)
        file = Path(files[0] if files else "~/.kube/config")
    file = file.expanduser()
    kubeconfig = _read(file)
    name = context or kubeconfig.current_context
    if name not in kubeconfig.contexts:
        what = f"context '{name}'" if name else "current context"
        closest_first = sorted(
            kubeconfig.contexts, key=lambda known: (-SequenceMatcher(None, name or "", known).ratio(), known)
        )
        contexts = ", ".join(closest_first) or "none"
        raise Refused(f"kubeconfig {file} has no {what} (contexts: {contexts})", _OTHER_CONTEXT)
    try:
        config = kubeconfig.get(name)
    except (ConfigError, KeyError):
        config = None
    if config is None or config.user is None:
        problem = f"context '{name}' of kubeconfig {file} lacks its cluster or its user"
        raise Refused(problem, f"complete it, or {_OTHER_CONTEXT}")
    return config


_CLUSTER = ("server", "tls-server-name", "certificate-authority-data", "proxy-url")
_USER = ("token", "username", "password", "client-certificate-data", "client-key-data")
_REFUSED = {
    "clusters": ("certificate-authority", "insecure-skip-tls-verify"),
    "users": ("client-certificate", "client-key", "tokenFile", "exec", "auth-provider"),
}
"""What Flux refuses or ignores: files, programs, and a server that nobody verifies. Source: fluxcd.io, "Remote clusters"."""


def of_secret(data: bytes) -> SingleConfig:
    """The current context of a kubeconfig from somebody else, limited to what Flux accepts: no files, no commands.

    Raises: Refused: it is not a kubeconfig; the message quotes nothing from it.
    """
    from lightkube.config.kubeconfig import KubeConfig
    from lightkube.core.exceptions import ConfigError

    try:
        content = document(data)
        kept = {
            **content,
            "clusters": [_only(entry, "cluster", _CLUSTER) for entry in content["clusters"]],
            "users": [_only(entry, "user", _USER) for entry in content["users"]],
        }
        config = KubeConfig.from_dict(kept).get()
    except (AttributeError, ConfigError, KeyError, RecursionError, TypeError, ValueError, yaml.YAMLError):
        config = None
    if config is None or config.user is None:
        fix = "have its writer write a complete one, whose current context names a cluster and a user"
        raise Refused("the kubeconfig that Flux uses is incomplete, or is none", fix)
    return config


def ignored_in(data: bytes) -> list[str]:
    """The keys of a kubeconfig, as `of_secret` takes it, that Flux refuses or ignores: also in what the context does not use."""
    content = document(data)
    parts = [(entry[group[:-1]] or {}, keys) for group, keys in _REFUSED.items() for entry in content[group]]
    return list(dict.fromkeys(key for part, keys in parts for key in keys if part.get(key)))


def _only(entry: dict[str, Any], part: str, keys: tuple[str, ...]) -> dict[str, Any]:
    return {"name": entry["name"], part: {key: entry[part][key] for key in keys if key in (entry[part] or {})}}


def _read(file: Path) -> KubeConfig:
    from lightkube.config.kubeconfig import KubeConfig

    try:
        kubeconfig = KubeConfig.from_dict(document(file.read_text(encoding="utf-8")), fname=file)
    except OSError as error:
        fix = f"{_OTHER_FILE} (`tenantry sandbox up` writes the sandbox's)"
        raise Refused(f"kubeconfig {file} cannot be read: {error.strerror}", fix) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Refused(f"kubeconfig {file} is not YAML", f"repair it, or {_OTHER_FILE}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Refused(f"{file} is YAML, but not a kubeconfig", f"repair it, or {_OTHER_FILE}") from None
    for user in kubeconfig.users.values():
        if user.exec and user.exec.apiVersion == "client.authentication.k8s.io/v1":
            # lightkube supports only the previous version of this protocol; both versions pass a token in the same way.
            user.exec.apiVersion = "client.authentication.k8s.io/v1beta1"
    return kubeconfig


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

    config = select(kubeconfig, context)
    with ExitStack() as opened:
        with _explained(config), answering(config):
            client = opened.enter_context(_client(config, httpx2.Timeout(CONNECT_TIMEOUT)))
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


def connect_remote(config: SingleConfig, seconds: float) -> Client:
    """A client that has sent no request yet, with a timeout for each step of an answer.

    Raises: Refused: a certificate or key cannot be used.
    """
    import httpx2

    return _client(config, httpx2.Timeout(seconds))


_MAKING = threading.Lock()
"""One client at a time: to read certificates, OpenSSL loads and keeps parts that all threads share."""


def _client(config: SingleConfig, timeout: httpx2.Timeout) -> Client:
    from tenantry.cluster.client import Client

    # A missing file, invalid base64 or invalid PEM: the exceptions do not say which.
    with _MAKING, suppress(OSError, ValueError):
        return Client(config, timeout=timeout)
    raise Refused(f"a certificate or key of {_context_name(config)} cannot be used", _RENEW)


def _ask_who_we_are(client: Client) -> None:
    """Send a request that every authenticated identity may send, and nobody else."""
    review = {"apiVersion": AUTHENTICATION, "kind": "SelfSubjectReview"}
    answer = client.http.post(f"/apis/{AUTHENTICATION}/selfsubjectreviews", json=review)
    # Kubernetes before 1.28 has no such API, but has checked the credentials all the same.
    if answer.status_code != HTTPStatus.NOT_FOUND or "json" not in answer.headers.get("Content-Type", ""):
        answer.raise_for_status()
    answer.json()


@contextmanager
def answering(asked: SingleConfig | Client) -> Iterator[None]:
    """Report in one line that a cluster does not answer, or no longer does. Raises: Refused."""
    import httpx2

    config = cast("SingleConfig", getattr(asked, "config", None) or asked)
    server = f"cluster {config.cluster.server}"
    try:
        yield
    except httpx2.TimeoutException:
        raise Refused(f"{server} did not answer in time", _CHECK, code=UNREACHABLE) from None
    except httpx2.RequestError as error:
        raise Refused(f"{server} cannot be reached: {error}", _CHECK, code=UNREACHABLE) from None


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
