"""A cluster's client: lightkube's calls, and plain HTTP requests for what lightkube has no call for.

Imports lightkube, which takes a tenth of a second, so import this module where a cluster is needed.
"""

from __future__ import annotations

from typing import Self

import httpx2
import lightkube
from lightkube.config import client_adapter
from lightkube.config.kubeconfig import SingleConfig

_TIMEOUT = httpx2.Timeout(10.0)
"""lightkube's own."""


class Client(lightkube.Client):
    """http: sends requests of one's own, with the same address, credentials, certificates and timeout.

    timeout: for each step of an answer. transport: what answers in place of a network.
    """

    def __init__(
        self, config: SingleConfig, timeout: httpx2.Timeout = _TIMEOUT, transport: httpx2.BaseTransport | None = None
    ) -> None:
        super().__init__(config, timeout=timeout, transport=transport)
        parameters = client_adapter.ConnectionParams(timeout=timeout, transport=transport)
        # Not lightkube's own HTTP client, which is private. Not made on demand, because threads share it.
        self.http: httpx2.Client = client_adapter.Client(config, parameters)

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Close the connections of both."""
        super().close()
        self.http.close()
