"""A cluster's client: lightkube's calls, and plain HTTP requests where lightkube has no call.

lightkube takes a tenth of a second to import, so import this module only where a cluster is needed.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import lightkube
from lightkube.config.client_adapter import verify_cluster
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import User

from tenantry.cluster.requests import Served
from tenantry.kube.objects import ObjectId

_TIMEOUT = httpx2.Timeout(10.0)
"""lightkube's own."""


class Client(lightkube.Client):
    """http: sends custom requests with the same address, credentials, certificates and timeout.

    timeout: for each step of an answer. transport: answers in place of a network. served: what `requests` knows of the
    cluster's kinds, by version.
    """

    unread: set[ObjectId] | None = None
    """Secrets that these credentials may not read, for a command that says so; None: reading one raises an error."""
    unlisted = False
    """Whether these credentials may not list Secrets, so that those which nobody plans are not known."""

    def __init__(
        self, config: SingleConfig, timeout: httpx2.Timeout = _TIMEOUT, transport: httpx2.BaseTransport | None = None
    ) -> None:
        super().__init__(config, timeout=timeout, transport=transport or _transport(config))
        # lightkube keeps its HTTP client private. A second one would read the certificates and log in once more.
        self.http: httpx2.Client = self._client._client
        self.served: dict[str, Mapping[str, Served]] = {}

    def __enter__(self) -> Self:
        return self


class _SharedContext(ssl.SSLContext):
    """Several threads may open connections with this context at once, because nothing changes it any more.

    httpcore sets the same protocols again for each connection. OpenSSL then frees the list of protocols that another
    thread's handshake is reading: the server answers "decode error", or the process crashes (python/cpython#141012).
    """

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Leave the protocols as they are."""


def _transport(config: SingleConfig) -> httpx2.HTTPTransport:
    """The network, with the certificates of a kubeconfig and the proxy of the environment.

    Raises: OSError, ValueError: a certificate or key cannot be used.
    """
    context = verify_cluster(config.cluster, config.user or User(), config.abs_file)
    context.set_alpn_protocols(["http/1.1"])
    context.__class__ = _SharedContext
    return httpx2.HTTPTransport(verify=context, proxy=_proxy(config.cluster.server))


def _proxy(server: str) -> str | None:
    """The address of the proxy that HTTPS_PROXY, ALL_PROXY and NO_PROXY choose for a server."""
    url, proxies = urlsplit(server), getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
