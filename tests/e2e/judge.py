"""An API server that is asked about objects and keeps none of them.

Drawn fleets repeat themselves: most of their objects are equal to the last byte once their namespace is replaced. An answer depends
on the object alone, because dry runs change nothing, so each object is asked about once.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from components.secrets import data_of
from tenantry.kube.objects import SecretValues
from tenantry.plan.plan import Plan
from tests.e2e.clusters import KINDS
from tests.e2e.credentials import Connection, Credentials

Manifest = Mapping[str, Any]
ASKERS = 4
"""Requests at a time. With more of them, two cores of API server answer no faster."""
QUERY = "dryRun=All&fieldValidation=Strict&fieldManager=conformance&force=true"
PLURALS = {kind: plural for _, _, kind, plural in KINDS}


class Judge:
    """Answers are kept by request."""

    def __init__(self, kubeconfig: Path) -> None:
        self._credentials = Credentials.read(kubeconfig)
        self._answers: dict[tuple[str, str], str | None] = {}
        self._objects = 0
        self._connections = threading.local()
        self._askers = ThreadPoolExecutor(ASKERS)

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._askers.shutdown()

    def __str__(self) -> str:
        return f"{self._objects} objects checked in all, {len(self._answers)} of them different"

    def document(self, path: str) -> dict[str, Any]:
        """What the server answers at a path, such as an OpenAPI document."""
        connection = self._connection()
        connection.request("GET", path)
        document: dict[str, Any] = json.loads(connection.getresponse().read())
        return document

    def refusal(self, manifest: Manifest) -> str | None:
        """What the server has against an object, in its words, or None."""
        return self._ask(_request(manifest))

    def refusals(self, plan: Plan) -> list[str]:
        """What the server has against any object of a plan."""
        requests = [_request(manifest) for manifest in _manifests(plan)]
        self._objects += len(requests)
        new = [each for each in dict.fromkeys(requests) if each not in self._answers]
        self._answers.update(zip(new, self._askers.map(self._ask, new), strict=True))
        return [f"{path}: {why}" for path, body in requests if (why := self._answers[path, body])]

    def _ask(self, request: tuple[str, str]) -> str | None:
        path, body = request
        connection = self._connection()
        connection.request("PATCH", path, body, {"Content-Type": "application/apply-patch+yaml"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status < http.HTTPStatus.BAD_REQUEST:
            return None
        return str(json.loads(text).get("message", text))

    def _connection(self) -> Connection:
        """The thread's own, kept open."""
        if not hasattr(self._connections, "own"):
            self._connections.own = self._credentials.connection(timeout=60)
        own: Connection = self._connections.own
        return own


def _manifests(plan: Plan) -> Iterator[Manifest]:
    """All objects, including those that a remote's baselines hold."""
    for planned in plan.objects:
        yield planned.manifest if planned.secret is None else {**planned.manifest, "data": _data(planned.secret)}
        yield from planned.manifest.get("spec", {}).get("values", {}).get("objects", ())


def _data(secret: SecretValues) -> dict[str, str]:
    return data_of(secret, dict.fromkeys(secret.keys, "value"))


def _request(manifest: Manifest) -> tuple[str, str]:
    """Path and body. Objects are moved to a namespace that exists: dry runs create none."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    kind, metadata, place = manifest["kind"], manifest["metadata"], ""
    if "namespace" in metadata:
        metadata, place = {**metadata, "namespace": "default"}, "/namespaces/default"
    base = f"/apis/{group}/{version}" if group else f"/api/{version}"
    path = f"{base}{place}/{PLURALS.get(kind) or _plural(kind)}/{metadata['name']}?{QUERY}"
    return path, json.dumps({**manifest, "metadata": metadata})


def _plural(kind: str) -> str:
    """As Kubernetes names the resource of one of its own kinds."""
    name = kind.lower()
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s"
