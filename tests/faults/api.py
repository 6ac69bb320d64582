"""Plain requests to an API server: any path, any impersonated user, and the unprocessed answer."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.credentials import Connection, Credentials

TIMEOUT = 30.0


class Answer(NamedTuple):
    """What the API server said; `message` is its own, empty if all is well."""

    status: int
    body: dict[str, Any]

    @property
    def message(self) -> str:
        return str(self.body.get("message", "")) if self.status >= http.HTTPStatus.BAD_REQUEST else ""


class Api:
    """One cluster; threads may share it, because each has its own connections, which stay open."""

    def __init__(self, kubeconfig: Path) -> None:
        self._credentials = Credentials.read(kubeconfig)
        self._own = threading.local()

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, as_user: str = "", token: str = ""
    ) -> Answer:
        """Ask as the administrator, as a service account that it plays, or as the owner of a token.

        as_user: `system:serviceaccount:<namespace>:<name>`, with the groups it would have.
        """
        text = json.dumps(body).encode() if body is not None else b""
        headers = (*_content(method, text), *_identity(as_user, token))
        connection = self._connection(anonymous=bool(token))
        used = connection.sock is not None
        try:
            return _answer(connection, method, path, headers, text)
        except (OSError, http.client.HTTPException):
            if not used:
                raise
        # The server has restarted since, or closed what was idle.
        return self.ask(method, path, body, as_user=as_user, token=token)

    def _connection(self, *, anonymous: bool) -> Connection:
        name = "anonymous" if anonymous else "administrator"
        if not hasattr(self._own, name):
            setattr(self._own, name, self._credentials.connection(TIMEOUT, anonymous=anonymous))
        found: Connection = getattr(self._own, name)
        return found

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


def _answer(connection: Connection, method: str, path: str, headers: Iterable[tuple[str, str]], text: bytes) -> Answer:
    try:
        connection.putrequest(method, path)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(text)
        response = connection.getresponse()
        return Answer(response.status, _parsed(response.read()))
    except BaseException:
        connection.close()
        raise


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


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {"message": text.decode(errors="replace")}
    return parsed if isinstance(parsed, dict) else {}
