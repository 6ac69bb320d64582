import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tenantry.cluster import apply_bootstrap
from tenantry.kube.objects import ObjectId
from tenantry_sandbox.api import Access, Api
from tenantry_sandbox.certificates import Authority
from tenantry_sandbox.layout import SandboxError, Unreachable

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky"}, "unknown": {"field": 1}}


class ApiServer(BaseHTTPRequestHandler):
    """Plays an API server with one namespace, and notes what is changed."""

    applied: ClassVar[list[tuple[str, Any]]] = []
    refusal: ClassVar[dict[str, str] | None] = None

    def do_GET(self) -> None:
        if self.path == "/api/v1/namespaces/default":
            self.answer(200, {"kind": "Namespace"})
        else:
            self.answer(200 if self.path == "/readyz" else 404, {})

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.applied.append((self.path, body))
        if "missing" in self.path:
            self.answer(404, {})
        else:
            self.answer(*((422, self.refusal) if self.refusal else (200, body)))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.applied.append((self.path, body))
        self.answer(201, {"status": {"token": "made for it"}})

    def do_DELETE(self) -> None:
        self.applied.append((self.path, None))
        self.answer(404, {})

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
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": "rocky"}}

    api.apply(NAMESPACE)
    api.apply(secret)

    query = f"?fieldManager={apply_bootstrap.FIELD_MANAGER}&force=true"
    assert ApiServer.applied == [
        (f"/api/v1/namespaces/rocky{query}", NAMESPACE),
        (f"/api/v1/namespaces/rocky/secrets/git{query}", secret),
    ]


def test_an_object_that_is_not_there_is_none(api: Api) -> None:
    assert api.get(ObjectId("v1", "Namespace", "", "default")) == {"kind": "Namespace"}
    assert api.get(ObjectId("v1", "Namespace", "", "missing")) is None


def test_what_cannot_be_there_is_named(api: Api) -> None:
    with pytest.raises(SandboxError, match="cluster edge-1 does not serve v1 Secret, or has no namespace for it"):
        api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": "missing"}})


def test_a_token_is_made_for_a_service_account(api: Api) -> None:
    assert api.token(ObjectId("v1", "ServiceAccount", "flux-system", "helm-controller")) == "made for it"
    ((path, body),) = ApiServer.applied
    assert path == "/api/v1/namespaces/flux-system/serviceaccounts/helm-controller/token"
    assert body["spec"]["expirationSeconds"] > 365 * 24 * 3600


def test_a_status_is_written_at_its_own_path(api: Api) -> None:
    api.patch_status(ObjectId("v1", "Pod", "rocky", "web"), {"phase": "Pending"})
    assert ApiServer.applied == [("/api/v1/namespaces/rocky/pods/web/status", {"status": {"phase": "Pending"}})]


def test_what_is_gone_can_be_deleted_again(api: Api) -> None:
    api.delete(ObjectId("v1", "Pod", "rocky", "web"))
    assert ApiServer.applied == [("/api/v1/namespaces/rocky/pods/web", None)]


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
