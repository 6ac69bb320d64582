import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tenantry_sandbox.process import answers


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing on the tests' output."""


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_server_that_answers_is_there_whatever_proxy_the_shell_names(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    assert answers(port, "/healthz")


def test_a_server_that_is_not_ready_is_not(port: int) -> None:
    assert not answers(port, "/readyz")


def test_a_port_nobody_listens_on_does_not_answer() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))

        assert not answers(reserved.getsockname()[1], "/healthz")
