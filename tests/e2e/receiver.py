"""A server that stands for whatever alerts are posted to: it takes everything, and tells what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Post:
    """One request; `headers` are named as in `Content-Type`, `body` is the JSON that it held."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Receiver:
    """What was posted to a URL and to everything below it, in the order in which it came."""

    url: str
    _posts: list[Post] = field(default_factory=list)

    def posts(self, path: str = "/") -> list[Post]:
        """Those to one path."""
        return [post for post in tuple(self._posts) if post.path == path]

    def take(self, post: Post) -> None:
        self._posts.append(post)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a loopback port of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}")
        server.RequestHandlerClass = type("Handler", (_Handler,), {"receiver": receiver})
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.receiver.take(Post(self.path, {name.title(): value for name, value in self.headers.items()}, body))
        self._answer(HTTPStatus.CREATED, b"{}")

    def do_GET(self) -> None:
        """Who asks what there is already, as for the status of a commit, is told that there is nothing."""
        self._answer(HTTPStatus.OK, b"[]")

    def _answer(self, status: HTTPStatus, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: requests are no news in a test's output."""
