from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

import pytest
import yaml

from tenantry.cluster import connect
from tenantry.messages.errors import Refused

SECRET = "c2VjcmV0"
REVIEW = {
    "apiVersion": "authentication.k8s.io/v1",
    "kind": "SelfSubjectReview",
    "status": {"userInfo": {"username": "a"}},
}
Write: TypeAlias = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def kubeconfig(server: str, cluster: dict[str, Any] | None = None, **user: Any) -> Path:
        content = {
            "current-context": "hub",
            "clusters": [{"name": "hub", "cluster": {"server": server, **(cluster or {})}}],
            "users": [{"name": "admin", "user": user or {"token": SECRET}}],
            "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "admin"}}],
        }
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(content))
        return path

    return kubeconfig


@contextmanager
def answering(status: int, body: bytes, kind: str = "application/json") -> Iterator[str]:
    """A server that gives every request the same answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def refusing(status: int) -> AbstractContextManager[str]:
    return answering(status, json.dumps({"kind": "Status", "code": status, "message": SECRET}).encode())


def refusal(kubeconfig: Path) -> str:
    with pytest.raises(Refused) as refused:
        connect.connect(kubeconfig, None)
    assert SECRET not in str(refused.value)
    assert refused.value.fix
    assert "\n" not in refused.value.message
    return refused.value.message


def test_a_cluster_that_knows_us_gets_a_client(write: Write) -> None:
    with answering(201, json.dumps(REVIEW).encode()) as server, connect.connect(write(server), None) as client:
        assert client.access.cluster.server == server


def test_later_answers_may_take_longer_than_the_first(write: Write) -> None:
    with answering(201, json.dumps(REVIEW).encode()) as server, connect.connect(write(server), None, 42.0) as client:
        assert client.http.timeout.read == 42.0


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_are_not_shown(write: Write, status: int) -> None:
    with refusing(status) as server:
        file = write(server)
        expected = f"cluster {server} refused the credentials of context 'hub' of kubeconfig {file} ({status})"
        assert refusal(file) == expected


def test_a_cluster_in_trouble_is_named_with_its_answer(write: Write) -> None:
    with refusing(503) as server:
        assert refusal(write(server)) == f"cluster {server} answered with status 503"


def test_a_server_that_is_no_cluster_is_told_from_one(write: Write) -> None:
    with answering(404, b"<html>", "text/html") as server:
        assert refusal(write(server)) == f"cluster {server} answered with status 404"
    with answering(200, b"<html>", "text/html") as server:
        file = write(server)
        expected = f"no answer of an API server from {server}, which context 'hub' of kubeconfig {file} names"
        assert refusal(file) == expected


def test_a_cluster_that_is_down_is_named_with_the_reason(write: Write) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        server = f"https://127.0.0.1:{free.getsockname()[1]}"
    assert refusal(write(server)) == f"cluster {server} cannot be reached: [Errno 111] Connection refused"


@pytest.mark.parametrize("protocol", ["http", "https"])
def test_a_cluster_that_keeps_silent_is_not_waited_for(
    write: Write, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = connect.CONNECT_TIMEOUT
    monkeypatch.setattr(connect, "CONNECT_TIMEOUT", shipped / 100)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"{protocol}://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        assert refusal(write(server)) == f"cluster {server} did not answer in time"
        assert time.monotonic() - start < shipped


def test_a_server_without_a_protocol_is_refused(write: Write) -> None:
    message = "Request URL is missing an 'http://' or 'https://' protocol."
    assert refusal(write("hub.example.com")) == f"cluster hub.example.com cannot be reached: {message}"


@pytest.mark.parametrize(
    "cluster",
    [
        {"certificate-authority": "nowhere.crt"},
        {"certificate-authority-data": "%"},
        {"certificate-authority-data": SECRET},
    ],
)
def test_certificates_that_can_not_be_used_are_not_shown(write: Write, cluster: dict[str, Any]) -> None:
    file = write("https://127.0.0.1", cluster)
    assert refusal(file) == f"a certificate or key of context 'hub' of kubeconfig {file} cannot be used"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["sh", "-c", "echo log in first >&2; exit 1"], "no credentials from {}: sh ended with 1: log in first"),
        (["sh", "-c", f"echo {SECRET}"], "no credentials from {}: sh printed none"),
        (["no-such-command"], "no credentials from {}: its plugin no-such-command cannot be run"),
    ],
)
def test_a_credentials_command_that_fails_is_named(write: Write, command: list[str], message: str) -> None:
    how = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": command[0], "args": command[1:]}
    file = write("https://127.0.0.1", exec=how)
    assert refusal(file) == message.format(f"context 'hub' of kubeconfig {file}")
