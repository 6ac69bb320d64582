"""A cluster's client sends requests of one's own as lightkube sends its own."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from lightkube.config.kubeconfig import Cluster, Context, SingleConfig, User
from lightkube.resources.core_v1 import Namespace

from tenantry.cluster.client import Client
from tenantry_sandbox.certificates import Authority, KeyPair
from tests.table import table

SERVER = "https://hub.example.com"
TIMEOUT = httpx2.Timeout(3.0)


def config(user: User) -> SingleConfig:
    return SingleConfig("hub", Context(cluster="hub", user="admin"), Cluster(server=SERVER), user)


def sent(user: User) -> list[httpx2.Request]:
    """A request of lightkube's and one of our own for the same object."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky"}})

    with Client(config(user), TIMEOUT, httpx2.MockTransport(answer)) as client:
        client.get(Namespace, "rocky")
        client.http.get("/api/v1/namespaces/rocky")
    return requests


@table(
    ("user", "authorization"),
    [
        (User(token="token"), "Bearer token"),
        (User(username="admin", password="password"), "Basic YWRtaW46cGFzc3dvcmQ="),
    ],
)
def test_both_go_to_the_server_with_the_credentials_and_the_timeout_of_the_client(
    user: User, authorization: str
) -> None:
    assert [
        (str(each.url), each.headers["authorization"], each.extensions["timeout"]["read"]) for each in sent(user)
    ] == [(f"{SERVER}/api/v1/namespaces/rocky", authorization, 3.0)] * 2


def test_a_closed_client_keeps_no_connection() -> None:
    client = Client(config(User(token="token")), transport=httpx2.MockTransport(lambda _: httpx2.Response(200)))
    assert not client.http.is_closed
    client.close()
    assert client.http.is_closed


def test_connections_of_several_threads_share_a_context_that_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    pair = authority.server("server", ("127.0.0.1",))
    changes: list[object] = []
    change = ssl.SSLContext.set_alpn_protocols

    def changed(context: ssl.SSLContext, protocols: Iterable[str]) -> None:
        changes.append(protocols)
        change(context, protocols)

    monkeypatch.setattr(ssl.SSLContext, "set_alpn_protocols", changed)
    with https(pair) as port:
        cluster = Cluster(server=f"https://127.0.0.1:{port}", certificate_auth=str(authority.pair.certificate))
        reached = SingleConfig("hub", Context(cluster="hub", user="admin"), cluster, User(token="token"))
        with Client(reached, TIMEOUT) as client, ThreadPoolExecutor(4) as pool:
            answers = pool.map(lambda _: client.http.get("/version").status_code, range(8))
            assert list(answers) == [200] * 8
    assert changes == [["http/1.1"]]


@contextmanager
def https(pair: KeyPair) -> Iterator[int]:
    """A server on a port of its own that closes each connection after an answer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever, 0.01)
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            server.server_close()


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "proxy.example.com:3128"}, "http://proxy.example.com:3128"),
        ({"ALL_PROXY": "http://proxy.example.com:3128"}, "http://proxy.example.com:3128"),
        ({"HTTP_PROXY": "http://proxy.example.com:3128"}, None),
        ({"HTTPS_PROXY": "http://proxy.example.com:3128", "NO_PROXY": "example.com"}, None),
    ],
)
def test_the_proxy_is_the_one_of_the_environment(
    variables: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    chosen: list[object] = []
    monkeypatch.setattr(httpx2, "HTTPTransport", lambda **options: chosen.append(options["proxy"]))
    Client(config(User(token="token"))).close()
    assert chosen == [proxy]
