"""The content server: it stands in for the Git hosts, chart repositories, OCI registries and buckets of an environment's sources.

Started as `python -m tenantry.sandbox.server ROOT PORT...`; listens on loopback at every port, and serves the same on each:

    /git/<owner>/<repository>.git    repositories, by smart HTTP, for fetching
    /charts/index.yaml, /charts/*.tgz    a chart repository
    /v2/charts/<chart>, /v2/oci/<owner>/<name>    the repositories of an OCI registry
    /healthz    says that it runs
    /<bucket>    any other name: buckets, as S3 serves them
"""

import sys
import threading
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from tenantry.sandbox import buckets, registry, repositories
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.logins import NOT_FOUND, Response

HEALTH = "/healthz"


class Handler(BaseHTTPRequestHandler):
    """Answers the requests; `layout` says where the content is."""

    layout: ClassVar[Layout]
    protocol_version = "HTTP/1.1"
    # A client that stops talking must not hold its thread for ever.
    timeout = 120
    # Headers and body are two writes, and the second would wait for the first one's acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._send(self._answer())

    do_HEAD = do_GET

    def do_POST(self) -> None:
        self._send(self._git(self._body()))

    def _answer(self) -> Response:
        match urlsplit(self.path).path.lstrip("/").partition("/")[0]:
            case "healthz":
                return Response(HTTPStatus.OK, {}, b"ok\n")
            case "charts":
                return _chart(self.layout.charts, self.path.removeprefix("/charts/"))
            case "v2":
                return registry.serve(self.layout.registry, self.path, self._titled())
            case "git":
                return self._git(b"")
        return buckets.serve(self.layout.buckets, self.path, self._titled())

    def _git(self, body: bytes) -> Response:
        return repositories.serve(self.layout.git, self.command, self.path, self._titled(), body)

    def _titled(self) -> dict[str, str]:
        return {name.title(): value for name, value in self.headers.items()}

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)


class Server(ThreadingHTTPServer):
    """Listens on one loopback port."""

    daemon_threads = True
    request_queue_size = 128


def listen(layout: Layout, ports: Sequence[int]) -> list[Server]:
    """Bind every port first, so that a port in use fails before anything is served."""
    handler = type("SandboxHandler", (Handler,), {"layout": layout})
    return [Server(("127.0.0.1", port), handler) for port in ports]


def main(arguments: Sequence[str]) -> None:
    root, *ports = arguments
    servers = listen(Layout(Path(root)), [int(port) for port in ports])
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _chart(directory: Path, name: str) -> Response:
    if name not in {path.name for path in directory.glob("*")}:
        return NOT_FOUND
    return Response(HTTPStatus.OK, {"Content-Type": "application/octet-stream"}, (directory / name).read_bytes())


if __name__ == "__main__":
    main(sys.argv[1:])
