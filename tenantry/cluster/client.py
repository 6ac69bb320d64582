"""A cluster's client: lightkube's calls, and plain HTTP requests where lightkube has no call.

lightkube takes a tenth of a second to import, so import this module only where a cluster is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import httpx2
import lightkube
from lightkube.config.kubeconfig import SingleConfig

from tenantry.cluster.requests import Served

_TIMEOUT = httpx2.Timeout(10.0)
"""lightkube's own."""


class Client(lightkube.Client):
    """http: sends custom requests with the same address, credentials, certificates and timeout.

    timeout: for each step of an answer. transport: answers in place of a network. served: what `requests` knows of the
    cluster's kinds, by version.
    """

    def __init__(
        self, config: SingleConfig, timeout: httpx2.Timeout = _TIMEOUT, transport: httpx2.BaseTransport | None = None
    ) -> None:
        super().__init__(config, timeout=timeout, transport=transport)
        # lightkube keeps its HTTP client private. A second one would read the certificates and log in once more.
        self.http: httpx2.Client = self._client._client
        self.served: dict[str, Mapping[str, Served]] = {}

    def __enter__(self) -> Self:
        return self
