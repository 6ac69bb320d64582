"""The part of GitHub's and GitLab's API that the pipelines call, on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

BOT = "github-actions[bot]"
BOT_ID = 7


@dataclass
class Forge:
    """comments: those of the one pull request; runs: of the one workflow. calls: method and path of each request.

    denied: whether the token may not write.
    """

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    denied: bool = False

    def comment(self, author: str, body: str) -> None:
        """Have somebody comment."""
        known = {"login": author, "id": BOT_ID if author == BOT else 1}
        self.comments.append({"id": 100 + len(self.comments), "user": known, "author": known, "body": body})

    def bodies(self, author: str = BOT) -> list[str]:
        return [each["body"] for each in self.comments if each["user"]["login"] == author]

    def succeeded(self, commit: str, event: str = "push", repository: str = "ops/fleet") -> None:
        """Record a successful run of the workflow."""
        self.runs.insert(0, {"head_sha": commit, "event": event, "head_repository": {"full_name": repository}})


@contextmanager
def forge() -> Iterator[Forge]:
    """A forge without comments."""
    state = Forge()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(state: Forge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._note()
            asked = urlsplit(self.path)
            if asked.path.endswith("/user"):
                self._answer(200, {"id": BOT_ID})
            elif asked.path.endswith("/runs"):
                self._answer(200, {"workflow_runs": state.runs})
            else:
                query = parse_qs(asked.query)
                size, page = (int(query[key][0]) for key in ("per_page", "page"))
                self._answer(200, state.comments[size * (page - 1) : size * page])

        def do_POST(self) -> None:
            self._note()
            if state.denied:
                self._answer(403, {"message": "Resource not accessible by integration"})
                return
            state.comment(BOT, self._body())
            self._answer(201, {})

        def do_PATCH(self) -> None:
            self._note()
            found = re.search(r"/(?:comments|notes)/(\d+)$", self.path)
            assert found
            for each in state.comments:
                if each["id"] == int(found[1]):
                    each["body"] = self._body()
            self._answer(200, {})

        do_PUT = do_PATCH

        def _note(self) -> None:
            state.calls.append(f"{self.command} {urlsplit(self.path).path}")
            assert self.headers["Authorization"] == "Bearer the-token"

        def _body(self) -> str:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return str(content["body"])

        def _answer(self, code: int, content: Any) -> None:
            text = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
