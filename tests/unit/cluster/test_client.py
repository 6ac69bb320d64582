"""Requests go to the server as kubectl would send them with the same kubeconfig."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tenantry.cluster import client as transport
from tenantry.cluster.client import Client
from tenantry.cluster.kubeconfig import Access, Cluster, User, select
from tenantry.messages.errors import Refused
from tenantry_sandbox.certificates import Authority, KeyPair
from tests.table import table

SERVER = "https://hub.example.com"
TIMEOUT = httpx2.Timeout(3.0)
PROTOCOL = "client.authentication.k8s.io/v1"
PROXY = "http://proxy.example.com:3128"


def access(user: dict[str, Any], **cluster: Any) -> Access:
    return Access(
        name="hub",
        source="config",
        cluster=Cluster.model_validate({"server": SERVER, **cluster}),
        user=User.model_validate(user),
    )


def sent(user: dict[str, Any], **headers: str) -> list[httpx2.Request]:
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky"}})

    with Client(access(user, **{"tls-server-name": "api"}), TIMEOUT, httpx2.MockTransport(answer)) as client:
        client.http.headers.update(headers)
        client.http.get("/api/v1/namespaces/rocky")
    return requests


@table(
    ("user", "authorization"),
    [
        ({"token": "token"}, "Bearer token"),
        ({"username": "admin", "password": "password"}, "Basic YWRtaW46cGFzc3dvcmQ="),
        ({"token": "token", "exec": {"apiVersion": PROTOCOL, "command": "/no/such/plugin"}}, "Bearer token"),
    ],
)
def test_requests_go_to_the_server_with_the_credentials_and_the_timeout_of_the_client(
    user: dict[str, Any], authorization: str
) -> None:
    assert [
        (str(request.url), request.headers["authorization"], request.extensions["timeout"]["read"])
        for request in sent(user)
    ] == [(f"{SERVER}/api/v1/namespaces/rocky", authorization, 3.0)]


@table(("cluster", "encodings"), [({}, "gzip, deflate"), ({"disable-compression": True}, "identity")])
def test_answers_are_compressed_unless_the_kubeconfig_says_otherwise(cluster: dict[str, Any], encodings: str) -> None:
    with Client(
        access({"token": "token"}, **cluster), TIMEOUT, httpx2.MockTransport(lambda _: httpx2.Response(200))
    ) as client:
        assert client.http.get("/version").request.headers["accept-encoding"].startswith(encodings)


def test_requests_act_as_whom_the_kubeconfig_names() -> None:
    user = {
        "token": "token",
        "as": "jane",
        "as-uid": "7",
        "as-groups": ["readers", "writers"],
        "as-user-extra": {"acme.com/team": ["a", "b"]},
    }
    for request in sent(user):
        impersonated = [pair for pair in request.headers.multi_items() if pair[0].startswith("impersonate")]
        assert sorted(impersonated) == [
            ("impersonate-extra-acme.com%2fteam", "a"),
            ("impersonate-extra-acme.com%2fteam", "b"),
            ("impersonate-group", "readers"),
            ("impersonate-group", "writers"),
            ("impersonate-uid", "7"),
            ("impersonate-user", "jane"),
        ]


def test_a_request_that_names_an_account_acts_as_that_alone() -> None:
    (request,) = sent({"token": "token", "as": "jane", "as-groups": ["readers"]}, **{"Impersonate-User": "rocky"})
    assert [pair for pair in request.headers.multi_items() if pair[0].startswith("impersonate")] == [
        ("impersonate-user", "rocky")
    ]


def test_the_name_of_the_certificate_is_asked_for() -> None:
    assert {request.extensions["sni_hostname"] for request in sent({"token": "token"})} == {"api"}


def test_credentials_are_not_sent_over_a_connection_that_anybody_can_read() -> None:
    requests: list[httpx2.Request] = []
    plain = access({"token": "token", "as": "jane"}, server="http://hub.example.com")
    network = httpx2.MockTransport(lambda request: requests.append(request) or httpx2.Response(200))
    with Client(plain, network=network) as client:
        client.http.get("/version")
    assert not {"authorization", "impersonate-user"} & requests[0].headers.keys()


def test_a_closed_client_keeps_no_connection() -> None:
    client = Client(access({"token": "token"}), network=httpx2.MockTransport(lambda _: httpx2.Response(200)))
    assert not client.http.is_closed
    client.close()
    assert client.http.is_closed


# --- credential plugins -----------------------------------------------------------------------------------------------


class Plugin:
    """A plugin beside its kubeconfig, which writes down what it is told, and prints one answer after the other."""

    def __init__(self, directory: Path, *answers: dict[str, Any]) -> None:
        self.directory = directory
        for number, answer in enumerate(answers):
            (directory / f"answer-{number}").write_text(
                json.dumps({"kind": "ExecCredential", "apiVersion": PROTOCOL, "status": answer})
            )
        plugin = directory / "bin" / "login"
        plugin.parent.mkdir()
        plugin.write_text(
            f"#!/bin/sh\ncd {directory}\nn=$(ls told-* 2>/dev/null | wc -l)\n"
            'printf "%s" "$KUBERNETES_EXEC_INFO" > told-$n\ncat answer-$n\n'
        )
        plugin.chmod(0o755)
        cluster = {
            "server": SERVER,
            "certificate-authority-data": b64encode(b"authority").decode(),
            "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "hub"}}],
        }
        user = {
            "exec": {
                "apiVersion": PROTOCOL,
                "command": "./bin/login",
                "interactiveMode": "Never",
                "provideClusterInfo": True,
            }
        }
        content = {
            "current-context": "hub",
            "clusters": [{"name": "hub", "cluster": cluster}],
            "users": [{"name": "admin", "user": user}],
            "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "admin"}}],
        }
        (directory / "config").write_text(yaml.safe_dump(content))
        self.access = select(directory / "config", None)

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(file.read_text()) for file in sorted(self.directory.glob("told-*"))]


def test_a_plugin_beside_the_kubeconfig_is_told_of_the_cluster(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path, {"token": "a"})
    with Client(plugin.access, network=httpx2.MockTransport(lambda _: httpx2.Response(200))) as client:
        for _ in range(2):
            assert client.http.get("/").request.headers["authorization"] == "Bearer a"
    (told,) = plugin.told
    authority = b64encode(b"authority").decode()
    cluster = {"server": SERVER, "certificate-authority-data": authority, "config": {"audience": "hub"}}
    assert told == {
        "apiVersion": PROTOCOL,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": cluster},
    }


def test_refused_and_expired_credentials_are_renewed(tmp_path: Path) -> None:
    past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
    plugin = Plugin(tmp_path, {"token": "old"}, {"token": "expired", "expirationTimestamp": past}, {"token": "new"})

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(401 if request.headers["authorization"] == "Bearer old" else 200)

    with Client(plugin.access, network=httpx2.MockTransport(answer)) as client:
        tokens = [client.http.get("/").request.headers["authorization"] for _ in range(3)]
    assert tokens == ["Bearer expired", "Bearer new", "Bearer new"]
    assert len(plugin.told) == 3


@pytest.mark.parametrize("answer", [{}, {"clientCertificateData": "c"}])
def test_half_of_an_answer_is_none(answer: dict[str, Any], tmp_path: Path) -> None:
    plugin = Plugin(tmp_path, answer)
    network = httpx2.MockTransport(lambda _: httpx2.Response(200))
    with Client(plugin.access, network=network) as client, pytest.raises(Refused, match="login printed none"):
        client.http.get("/")


def test_the_hint_of_a_plugin_that_is_not_installed_is_shown() -> None:
    user = {"exec": {"apiVersion": PROTOCOL, "command": "no-such-login", "installHint": "brew install\nlogin"}}
    network = httpx2.MockTransport(lambda _: httpx2.Response(200))
    with Client(access(user), network=network) as client, pytest.raises(Refused) as refused:
        client.http.get("/")
    assert refused.value.fix == "brew install login"


# --- TLS --------------------------------------------------------------------------------------------------------------


def test_a_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair, own = authority.server("server", ("127.0.0.1",)), authority.server("admin", ("admin",))
    status = {"clientCertificateData": own.certificate.read_text(), "clientKeyData": own.key.read_text()}
    (tmp_path / "plugin").mkdir()
    plugin = Plugin(tmp_path / "plugin", status)
    with https(pair, clients=authority.pair.certificate) as port:
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(authority.pair.certificate)}
        user = plugin.access.user.exec
        assert user is not None
        reached = Access(cluster=access({}, **cluster).cluster, user=plugin.access.user)
        with Client(reached, TIMEOUT) as client:
            assert client.http.get("/version").status_code == 200
        assert len(plugin.told) == 1


def test_connections_of_several_threads_share_a_context_that_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    pair = authority.server("server", ("hub.internal",))
    changes: list[object] = []
    change = ssl.SSLContext.set_alpn_protocols

    def changed(context: ssl.SSLContext, protocols: Iterable[str]) -> None:
        changes.append(protocols)
        change(context, protocols)

    monkeypatch.setattr(ssl.SSLContext, "set_alpn_protocols", changed)
    with https(pair) as port:
        certificate = b64encode(authority.pair.certificate.read_bytes()).decode()
        cluster = {
            "server": f"https://127.0.0.1:{port}",
            "certificate-authority-data": certificate,
            "tls-server-name": "hub.internal",
        }
        with Client(access({"token": "token"}, **cluster), TIMEOUT) as client, ThreadPoolExecutor(4) as pool:
            answers = pool.map(lambda _: client.http.get("/version").status_code, range(8))
            assert list(answers) == [200] * 8
    assert changes == [["http/1.1"]]


@contextmanager
def https(pair: KeyPair, clients: Path | None = None) -> Iterator[int]:
    """A server on a port of its own that closes each connection after an answer. clients: the authority of their certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    if clients:
        context.load_verify_locations(clients)
        context.verify_mode = ssl.CERT_REQUIRED
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


# --- proxies ----------------------------------------------------------------------------------------------------------


@table(
    ("variables", "proxy_url", "proxy"),
    [
        ({}, None, None),
        ({"HTTPS_PROXY": "proxy.example.com:3128"}, None, PROXY),
        ({"https_proxy": PROXY}, None, PROXY),
        ({"HTTPS_PROXY": "socks5://proxy.example.com"}, None, "socks5://proxy.example.com"),
        ({"ALL_PROXY": PROXY}, None, None),
        ({"HTTP_PROXY": PROXY}, None, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "example.com"}, None, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "a.org, .EXAMPLE.com"}, None, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "hub.example.com:6443"}, None, PROXY),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "*.hub.example.com,ample.com"}, None, PROXY),
        ({"NO_PROXY": "*"}, "socks5://proxy.example.com:1080", "socks5://proxy.example.com:1080"),
        ({"HTTPS_PROXY": "http://other.example.com"}, PROXY, PROXY),
    ],
)
def test_the_proxy_is_the_one_that_kubectl_takes(
    variables: dict[str, str], proxy_url: str | None, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only(variables, monkeypatch)
    chosen: list[object] = []
    monkeypatch.setattr(transport.httpx2, "HTTPTransport", lambda **options: chosen.append(options["proxy"]))
    transport.Transport(access({"token": "token"}, **{"proxy-url": proxy_url}))
    assert chosen == [proxy]


@table(
    ("server", "exceptions", "proxy"),
    [
        ("https://10.1.2.3:6443", "10.0.0.0/8", None),
        ("https://10.1.2.3:6443", "10.1.2.3:443", PROXY),
        ("https://10.1.2.3", "2001:db8::/32,192.168.0.1", PROXY),
        ("https://[2001:db8::1]:6443", "2001:db8::/32", None),
        ("https://127.0.0.1:6443", "", None),
        ("https://localhost:6443", "", None),
    ],
)
def test_exceptions_may_be_networks(
    server: str, exceptions: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only({"HTTPS_PROXY": PROXY, "NO_PROXY": exceptions}, monkeypatch)
    assert transport.proxy_of(access({}, server=server)) == proxy


@pytest.mark.parametrize("address", ["http://user:secret@proxy:port", "ftp://user:secret@proxy", "http://user:secret@"])
@pytest.mark.parametrize("place", ["proxy-url", "HTTPS_PROXY"])
def test_what_is_no_proxy_is_refused_without_its_password(
    address: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only({"HTTPS_PROXY": address} if place == "HTTPS_PROXY" else {}, monkeypatch)
    with pytest.raises(Refused) as refused:
        transport.proxy_of(access({}, **({"proxy-url": address} if place == "proxy-url" else {})))
    assert f"'{place}'" in refused.value.message
    assert "secret" not in f"{refused.value} {refused.value.fix}"


def _only(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
