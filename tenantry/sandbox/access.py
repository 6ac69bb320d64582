"""How one identity reaches one cluster's API server."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenantry.sandbox.pki import KeyPair


@dataclass(frozen=True, slots=True)
class Access:
    """A user of a cluster, with what proves who it is."""

    cluster: str
    port: int
    authority: Path
    """Certificate of the authority that the API server's own comes from."""
    user: str
    pair: KeyPair

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def kubeconfig(self) -> str:
        """A kubeconfig with everything inline: Flux drops file paths from those it reads out of a Secret."""
        cluster = {"server": self.server, "certificate-authority-data": _encoded(self.authority)}
        user = {
            "client-certificate-data": _encoded(self.pair.certificate),
            "client-key-data": _encoded(self.pair.key),
        }
        context = {"cluster": self.cluster, "user": self.user}
        document: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.cluster, "cluster": cluster}],
            "users": [{"name": self.user, "user": user}],
            "contexts": [{"name": self.cluster, "context": context}],
            "current-context": self.cluster,
        }
        return yaml.safe_dump(document, sort_keys=False)


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
