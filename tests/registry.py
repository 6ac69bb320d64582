"""An OCI registry that accepts pushes, in the memory of the test: the distribution specification as far as clients need it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tenantry_sandbox.tools.store import command_of

_ROUTE = re.compile(r"/v2/(?P<name>.+)/(?P<kind>manifests|blobs)/(?P<reference>.*)")
_CHALLENGE = 'Basic realm="test"'


@dataclass
class Registry:
    """login: the header of those who may push; empty: everybody may."""

    login: str = ""
    port: int = 0
    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """By `name:tag` and `name@digest`: the media type and the manifest."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def push_chart(chart: Path, registry: Registry) -> str:
    """Push a chart below `charts/`, as a platform team does it. Returns: the digest that Helm prints."""
    helm = command_of("helm")
    with TemporaryDirectory() as directory:
        subprocess.run([*helm, "package", str(chart), "--destination", directory], check=True, capture_output=True)
        (archive,) = Path(directory).iterdir()
        done = subprocess.run(
            [*helm, "push", "--plain-http", str(archive), f"oci://{registry.host}/charts"],
            check=True,
            capture_output=True,
            text=True,
        )
    return done.stdout.rpartition("Digest: ")[2].strip()


@contextmanager
def serving(registry: Registry) -> Iterator[Registry]:
    """Serve a registry on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _may(self) -> bool:
            if registry.login and self.headers.get("Authorization") != registry.login:
                self._answer(401, b"{}", WWW_Authenticate=_CHALLENGE)
                return False
            return True

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            if not self._may():
                return
            route = _ROUTE.fullmatch(urlsplit(self.path).path)
            if route is None:
                self._answer(200 if self.path.rstrip("/") == "/v2" else 404, b"{}")
            elif route["kind"] == "blobs" and route["reference"] in registry.blobs:
                data = registry.blobs[route["reference"]]
                self._answer(200, data, Docker_Content_Digest=route["reference"])
            elif found := registry.manifests.get(_key(route)):
                self._answer(200, found[1], Content_Type=found[0], Docker_Content_Digest=digest(found[1]))
            else:
                self._answer(404, b"{}")

        def do_POST(self) -> None:
            self._body()
            if self._may():
                self._answer(202, Location=f"{urlsplit(self.path).path}session")

        def do_PUT(self) -> None:
            data = self._body()
            if not self._may():
                return
            parts = urlsplit(self.path)
            route = _ROUTE.fullmatch(parts.path)
            assert route
            if route["kind"] == "blobs":
                assert parse_qs(parts.query)["digest"] == [digest(data)]
                registry.blobs[digest(data)] = data
            else:
                media_type = self.headers["Content-Type"]
                for key in (_key(route), f"{route['name']}@{digest(data)}"):
                    registry.manifests[key] = media_type, data
            self._answer(201, Docker_Content_Digest=digest(data))

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


def _key(route: re.Match[str]) -> str:
    joint = "@" if route["reference"].startswith("sha256:") else ":"
    return f"{route['name']}{joint}{route['reference']}"
