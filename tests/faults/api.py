"""An API server asked without a library in between: any path, as whomever the administrator can be, and the answer as it comes."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

TIMEOUT = 30.0


class Answer(NamedTuple):
    """What the API server said; `message` is its own, empty if all is well."""

    status: int
    body: dict[str, Any]

    @property
    def message(self) -> str:
        return str(self.body.get("message", "")) if self.status >= http.HTTPStatus.BAD_REQUEST else ""


class Api:
    """One cluster; every request has its own connection, so threads may share it."""

    def __init__(self, kubeconfig: Path) -> None:
        document = yaml.safe_load(kubeconfig.read_text())
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        self._host = urlsplit(cluster["server"]).netloc
        self._anonymous = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        self._administrator = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
            pair.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            pair.flush()
            self._administrator.load_cert_chain(pair.name)

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, as_user: str = "", token: str = ""
    ) -> Answer:
        """Ask as the administrator, as a service account that it plays, or as whoever a token belongs to.

        as_user: `system:serviceaccount:<namespace>:<name>`, with the groups it would have.
        """
        context = self._anonymous if token else self._administrator
        connection = http.client.HTTPSConnection(self._host, context=context, timeout=TIMEOUT)
        try:
            connection.putrequest(method, path)
            text = json.dumps(body).encode() if body is not None else b""
            for name, value in (*_content(method, text), *_identity(as_user, token)):
                connection.putheader(name, value)
            connection.endheaders(text)
            response = connection.getresponse()
            return Answer(response.status, _parsed(response.read()))
        finally:
            connection.close()

    def state(self, path: str) -> dict[str, Any] | None:
        """An object as others would find it, or None; what its controllers note down about it is left out."""
        answer = self.ask("GET", path)
        return None if answer.status == http.HTTPStatus.NOT_FOUND else lasting(answer.body)


def lasting(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """An object without status, and without what changes with it."""
    metadata = dict(manifest["metadata"])
    metadata.pop("managedFields", None)
    if "status" in manifest:
        metadata.pop("resourceVersion", None)
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": metadata}


def _content(method: str, text: bytes) -> list[tuple[str, str]]:
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    return [("Content-Type", kind), ("Content-Length", str(len(text)))]


def _identity(user: str, token: str) -> list[tuple[str, str]]:
    if not user:
        return [("Authorization", f"Bearer {token}")] if token else []
    namespace = user.split(":")[2]
    groups = ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    played = [("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups)]
    return [*([("Authorization", f"Bearer {token}")] if token else []), *played]


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {"message": text.decode(errors="replace")}
    return parsed if isinstance(parsed, dict) else {}
