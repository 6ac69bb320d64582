"""How one identity reaches one cluster's API server, and the few requests that setting up a cluster takes."""

import base64
import http.client
import json
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml

from tenantry.cluster.requests import path_of
from tenantry.kube.objects import ObjectId, object_id
from tenantry_sandbox.certificates import KeyPair
from tenantry_sandbox.layout import SandboxError, Unreachable
from tenantry_sandbox.spec import Manifest

FIELD_MANAGER = "tenantry"
"""That of `tenantry bootstrap`, which otherwise could not change what the sandbox has applied."""
TIMEOUT = 30.0
LIFETIME = 10 * 365 * 24 * 3600
"""Seconds for which the token of a service account is valid: a sandbox with expired tokens would look broken."""


@dataclass(frozen=True, slots=True)
class Access:
    """A user of a cluster, with a certificate that proves who it is."""

    cluster: str
    port: int
    authority: Path
    """Certificate of the authority that the API server's own comes from."""
    user: str
    pair: KeyPair

    def kubeconfig(self) -> str:
        """A kubeconfig with everything inline: Flux drops file paths from those it reads out of a Secret."""
        pair = {"client-certificate-data": _encoded(self.pair.certificate), "client-key-data": _encoded(self.pair.key)}
        return self.kubeconfig_of(self.user, pair)

    def kubeconfig_of(self, user: str, credentials: dict[str, str]) -> str:
        """A kubeconfig of another user of the same cluster."""
        server = {
            "server": f"https://127.0.0.1:{self.port}",
            "certificate-authority-data": _encoded(self.authority),
            # On one machine, compressing what clients ask at their start takes six times as long as sending it.
            "disable-compression": True,
        }
        document: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.cluster, "cluster": server}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": self.cluster, "context": {"cluster": self.cluster, "user": user}}],
            "current-context": self.cluster,
        }
        return yaml.safe_dump(document, sort_keys=False)


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


class Api:
    """One identity's view of one cluster. Every request has its own connection, so threads may share it.

    Every method raises Unreachable while the API server does not answer, and SandboxError if it refuses the request.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._context = ssl.create_default_context(cafile=access.authority)
        self._context.load_cert_chain(access.pair.certificate, access.pair.key)

    def ready(self) -> bool:
        """Whether the API server reports that it is ready."""
        return self._request("GET", "/readyz")[0] == HTTPStatus.OK

    def get(self, id: ObjectId) -> dict[str, Any] | None:
        """The object; None: there is no object of that name."""
        return self._send("GET", id, path_of(id))

    def apply(self, manifest: Manifest) -> None:
        """Create or update the object, by server-side apply."""
        id = object_id(manifest)
        path = f"{path_of(id)}?fieldManager={FIELD_MANAGER}&force=true"
        if self._send("PATCH", id, path, manifest, "application/apply-patch+yaml") is None:
            message = (
                f"cluster {self._access.cluster} does not serve {id.api_version} {id.kind}, or has no namespace for it"
            )
            raise SandboxError(message, "correct the object's apiVersion, kind and namespace")

    def patch_status(self, id: ObjectId, status: Manifest) -> None:
        """Merge fields into the status of an object."""
        self._send("PATCH", id, f"{path_of(id)}/status", {"status": status}, "application/merge-patch+json")

    def delete(self, id: ObjectId) -> None:
        """Delete the object, if there is one."""
        self._send("DELETE", id, path_of(id))

    def token(self, account: ObjectId) -> str:
        """A new token of a service account."""
        answer = self._send("POST", account, f"{path_of(account)}/token", {"spec": {"expirationSeconds": LIFETIME}})
        return str((answer or {})["status"]["token"])

    def _send(
        self, method: str, id: ObjectId, path: str, body: Manifest | None = None, media_type: str = "application/json"
    ) -> dict[str, Any] | None:
        status, content = self._request(method, path, json.dumps(body).encode() if body else None, media_type)
        if status == HTTPStatus.NOT_FOUND:
            return None
        try:
            answer: dict[str, Any] = json.loads(content)
        except ValueError:
            answer = {}
        if status >= HTTPStatus.BAD_REQUEST:
            # The message of the server can quote a Secret's data, its reason cannot.
            why = answer.get("reason" if id.kind == "Secret" else "message") or status
            message = f"cluster {self._access.cluster} refused {id.kind} {id.name}: {why}"
            raise SandboxError(message, "correct the object, then run the command again")
        return answer

    def _request(self, method: str, path: str, body: bytes | None = None, media_type: str = "") -> tuple[int, bytes]:
        connection = http.client.HTTPSConnection("127.0.0.1", self._access.port, context=self._context, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, {"Content-Type": media_type} if body else {})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as broken:
            message = f"cluster {self._access.cluster} does not answer: {broken}"
            raise Unreachable(message, "run the command again; it starts what has ended") from broken
        finally:
            connection.close()
