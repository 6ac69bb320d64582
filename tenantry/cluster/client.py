"""A cluster's client: lightkube's calls, and plain HTTP requests where lightkube has no call.

lightkube takes a tenth of a second to import, so import this module only where a cluster is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import httpx2
import lightkube
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import Cluster, Context, User

from tenantry.cluster.kubeconfig import Access
from tenantry.cluster.requests import Served
from tenantry.cluster.transport import Transport
from tenantry.kube.objects import ObjectId

_TIMEOUT = httpx2.Timeout(10.0)
"""lightkube's own."""


class Client(lightkube.Client):
    """http: sends custom requests with the same address, credentials, certificates and timeout.

    timeout: for each step of an answer. network: answers in place of the real one. served: what `requests` knows of the
    cluster's kinds, by version.
    Raises: Refused: a certificate, a key or the proxy of the kubeconfig cannot be used.
    """

    unread: set[ObjectId] | None = None
    """Secrets that these credentials may not read, for a command that says so; None: reading one raises an error."""
    unlisted = False
    """Whether these credentials may not list Secrets, so that those which nobody plans are not known."""

    def __init__(
        self, access: Access, timeout: httpx2.Timeout = _TIMEOUT, network: httpx2.BaseTransport | None = None
    ) -> None:
        self.access = access
        # lightkube knows a part of what kubeconfigs hold. The transport does all of it, so lightkube gets the address alone, and
        # reads no certificates.
        address = Cluster(server=access.cluster.server, insecure=True)
        config = SingleConfig(access.name, Context(cluster=""), address, User())
        super().__init__(config, timeout=timeout, transport=Transport(access, network))
        # lightkube keeps its HTTP client private. A second one would read the certificates and log in once more.
        self.http: httpx2.Client = self._client._client
        self.served: dict[str, Mapping[str, Served]] = {}

    def __enter__(self) -> Self:
        return self
