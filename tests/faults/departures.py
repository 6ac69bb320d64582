"""Flux objects of the attacker's that are being deleted, and that it changes before they are gone.

A finalizer keeps each of them there. Flux cleans up with what the object says at that moment.
"""

from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenantry_sandbox.certificates import Authority
from tests.faults.arena import BAIT, TENANT
from tests.faults.forgeries import ACCOUNT, DEPENDENCY, NEIGHBOURS, REFERENCE, REMOTE

FINALIZER = "example.com/hold"
ANYWHERE = "anywhere"
"""The ConfigMap that says where Flux should send a token."""
STATUS = "the status of a Flux object is its controller's to write"

_ELSEWHERE = {"kubeConfig": {"configMapRef": {"name": ANYWHERE}}}
_SPECS: Mapping[str, dict[str, Any]] = {
    "Kustomization": {
        "prune": True,
        "path": f"./{BAIT}",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
        "targetNamespace": TENANT,
    },
    "HelmRelease": {
        "chart": {"spec": {"chart": f"./{BAIT}", "sourceRef": {"kind": "GitRepository", "name": "manifests"}}},
    },
}


@dataclass(frozen=True, slots=True)
class Departure:
    """change: what the attacker writes into the object after it was deleted. part: the object's spec, or its status."""

    name: str
    tried: str
    kind: str
    change: Mapping[str, Any]
    refusal: str
    part: str = "spec"

    @property
    def spec(self) -> dict[str, Any]:
        return {"interval": "1h", "serviceAccountName": TENANT, **_SPECS[self.kind]}


def _both(name: str, tried: str, change: Mapping[str, Any], refusal: str) -> Iterator[Departure]:
    for kind in _SPECS:
        yield Departure(f"{kind.lower()}-{name}", f"a {kind} that is being deleted: {tried}", kind, change, refusal)


_INVENTORY = {"inventory": {"entries": [{"id": "rocky_intruder__ConfigMap", "v": "v1"}]}}
DEPARTURES = (
    *_both("identity", "`kubeConfig` with Flux's own identity", _ELSEWHERE, REMOTE),
    *_both("remote", "`kubeConfig` with a Secret", {"kubeConfig": {"secretRef": {"name": ANYWHERE}}}, REMOTE),
    *_both("account", "no service account", {"serviceAccountName": None}, ACCOUNT),
    *_both(
        "oracle", "a neighbour's app in `dependsOn`", {"dependsOn": [{"name": "web", "namespace": "rocky"}]}, DEPENDENCY
    ),
    Departure(
        "kustomization-source",
        "a Kustomization that is being deleted: a neighbour's source",
        "Kustomization",
        {"sourceRef": NEIGHBOURS},
        REFERENCE,
    ),
    Departure(
        "inventory",
        "a Kustomization that is being deleted: a neighbour's object in its inventory",
        "Kustomization",
        _INVENTORY,
        STATUS,
        "status",
    ),
    Departure(
        "storage",
        "a HelmRelease that is being deleted: releases of the platform's namespace",
        "HelmRelease",
        {"storageNamespace": "tenantry-system"},
        STATUS,
        "status",
    ),
)


@dataclass(frozen=True, slots=True)
class Listener:
    """An API server of the attacker's: it answers nothing, and remembers who was sent to it."""

    address: str
    authority: str
    tokens: list[str] = field(default_factory=list)

    @property
    def config(self) -> dict[str, str]:
        """What sends Flux here."""
        return {"provider": "generic", "address": self.address, "ca.crt": self.authority, "audiences": "any"}


@contextmanager
def listening(directory: Path) -> Iterator[Listener]:
    """A listener on a loopback port; its certificates lie in a directory."""
    authority = Authority(directory)
    pair = authority.server("listener", ("127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        listener = Listener(f"https://127.0.0.1:{server.server_address[1]}", authority.pair.certificate.read_text())
        server.RequestHandlerClass = type("Handler", (_Handler,), {"tokens": listener.tokens})
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield listener
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serving(content: str) -> Iterator[str]:
    """An address on a loopback port where everything is the same text."""

    class Same(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(http.HTTPStatus.OK)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Same) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    tokens: list[str]

    def do_GET(self) -> None:
        self.tokens.append(self.headers.get("Authorization", "").removeprefix("Bearer "))
        self.send_error(http.HTTPStatus.NOT_FOUND)

    def log_message(self, *_: object) -> None:
        """Nothing: requests are no news in a test's output."""
