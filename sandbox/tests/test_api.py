import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tenantry.sandbox.api import Access, Api
from tenantry.sandbox.layout import SandboxError, Unreachable
from tenantry.sandbox.pki import Authority

from tenantry.cluster import apply_bootstrap

KINDS = {
    "/api/v1": [
        {"kind": "Namespace", "name": "namespaces", "namespaced": False},
        {"kind": "Namespace", "name": "namespaces/status", "namespaced": False},
        {"kind": "Secret", "name": "secrets", "namespaced": True},
    ]
}


class ApiServer(BaseHTTPRequestHandler):
    """Plays an API server that knows two kinds, and notes what is applied."""

    applied: ClassVar[list[tuple[str, Any]]] = []
    refusal: ClassVar[dict[str, str] | None] = None

    def do_GET(self) -> None:
        if self.path in KINDS:
            self.answer(200, {"resources": KINDS[self.path]})
        elif self.path == "/api/v1/namespaces/default":
            self.answer(200, {"kind": "Namespace"})
        else:
            self.answer(200 if self.path == "/readyz" else 404, {})

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.applied.append((self.path, body))
        self.answer(*((422, self.refusal) if self.refusal else (200, body)))

    def answer(self, status: int, body: Any) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Nothing on the tests' output."""


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def server(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    pair = authority.server("apiserver", ("127.0.0.1",))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.pair.certificate)
    context.load_cert_chain(pair.certificate, pair.key)
    context.verify_mode = ssl.CERT_REQUIRED
    monkeypatch.setattr(ApiServer, "applied", [])
    with HTTPServer(("127.0.0.1", 0), ApiServer) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def api(server: HTTPServer, authority: Authority) -> Api:
    pair = authority.client("admin", "kubernetes-admin")
    return Api(Access("edge-1", server.server_address[1], authority.pair.certificate, "kubernetes-admin", pair))


def test_it_is_ready_when_the_server_says_so(api: Api) -> None:
    assert api.ready()


def test_an_object_is_applied_as_it_is_where_its_kind_stands(api: Api) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky"}, "unknown": {"field": 1}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": "rocky"}}

    api.apply(namespace)
    api.apply(secret)

    query = f"?fieldManager={apply_bootstrap.FIELD_MANAGER}&force=true"
    assert ApiServer.applied == [
        (f"/api/v1/namespaces/rocky{query}", namespace),
        (f"/api/v1/namespaces/rocky/secrets/git{query}", secret),
    ]


def test_an_object_that_is_not_there_is_none(api: Api) -> None:
    assert api.get("v1", "Namespace", "default") == {"kind": "Namespace"}
    assert api.get("v1", "Namespace", "missing") is None


def test_a_kind_the_cluster_does_not_know_is_named(api: Api) -> None:
    with pytest.raises(SandboxError, match="cluster edge-1 has no kind Kustomization in /apis/kustomize/v1"):
        api.apply({"apiVersion": "kustomize/v1", "kind": "Kustomization", "metadata": {"name": "web"}})


@pytest.mark.parametrize(
    ("kind", "told"), [("Namespace", "cannot be 'hunter2'"), ("Secret", "Invalid")], ids=["in-its-words", "secret"]
)
def test_a_refusal_is_passed_on_without_what_a_secret_holds(
    api: Api, monkeypatch: pytest.MonkeyPatch, kind: str, told: str
) -> None:
    monkeypatch.setattr(ApiServer, "refusal", {"reason": "Invalid", "message": "cannot be 'hunter2'"})

    with pytest.raises(SandboxError) as refusal:
        api.apply({"apiVersion": "v1", "kind": kind, "metadata": {"name": "web"}})

    assert refusal.value.message == f"cluster edge-1 refused {kind} web: {told}"


def test_a_server_that_is_not_there_is_unreachable(authority: Authority) -> None:
    pair = authority.client("admin", "kubernetes-admin")
    nobody = Access("edge-1", 1, authority.pair.certificate, "kubernetes-admin", pair)

    with pytest.raises(Unreachable, match="cluster edge-1 does not answer"):
        Api(nobody).ready()
