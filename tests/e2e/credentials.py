"""How a cluster's API server is reached without a client library."""

from __future__ import annotations

import base64
import http.client
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml


class Connection(http.client.HTTPSConnection):
    """Stays open between requests, as long as anyone has it."""

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Credentials:
    """host: with port. administrator, anonymous: TLS contexts with and without the administrator's certificate."""

    host: str
    administrator: ssl.SSLContext
    anonymous: ssl.SSLContext

    @classmethod
    def read(cls, kubeconfig: Path) -> Credentials:
        document = yaml.load(kubeconfig.read_bytes(), yaml.CSafeLoader)
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        authority = _decoded(cluster["certificate-authority-data"])
        administrator = ssl.create_default_context(cadata=authority)
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
            pair.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            pair.flush()
            administrator.load_cert_chain(pair.name)
        return cls(urlsplit(cluster["server"]).netloc, administrator, ssl.create_default_context(cadata=authority))

    def connection(self, timeout: float, *, anonymous: bool = False) -> Connection:
        """As the administrator, or as the user that the requests' own headers name."""
        context = self.anonymous if anonymous else self.administrator
        return Connection(self.host, context=context, timeout=timeout)


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()
