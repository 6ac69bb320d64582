"""Plays Flux's controllers on a cluster where they stand still: each object is ready soon after it has changed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

from tenantry.cluster import requests
from tenantry.cluster.client import Client
from tenantry.cluster.connect import connect
from tenantry.flux.schemas import schema_of
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import mapping_at

_KINDS = ("GitRepository", "HelmRepository", "HelmChart", "Kustomization", "HelmRelease")
_NOW = "2026-01-01T00:00:00Z"
_REVISION = "1.0.0"
"""What every source has fetched, and every app applied."""
_ARTIFACT = {
    "url": "http://127.0.0.1/artifact",
    "path": "artifact",
    "revision": _REVISION,
    "digest": f"sha256:{'0' * 64}",
    "lastUpdateTime": _NOW,
}
_APPLIED: dict[str, dict[str, Any]] = {
    "Kustomization": {"lastAppliedRevision": _REVISION, "lastAttemptedRevision": _REVISION},
    "HelmRelease": {"lastAttemptedRevision": _REVISION},
}


@contextmanager
def played(kubeconfig: Path) -> Iterator[None]:
    """Play until the context ends, with a thread for each kind."""
    over = threading.Event()
    threads = [threading.Thread(target=_play, args=(kubeconfig, kind, over), daemon=True) for kind in _KINDS]
    for each in threads:
        each.start()
    yield
    over.set()


def _play(kubeconfig: Path, kind: str, over: threading.Event) -> None:
    with connect(kubeconfig, None) as client:
        while not over.is_set():
            # The API server ends a watch after a while, and for good when the sandbox goes down.
            with suppress(httpx2.HTTPError):
                _watch(client, kind, over)


def _watch(client: Client, kind: str, over: threading.Event) -> None:
    schema = schema_of(kind)
    path = f"/apis/{schema.api_version}/{schema.plural}"
    with client.http.stream("GET", path, params={"watch": "1"}, timeout=None) as changes:
        for line in changes.iter_lines():
            if over.is_set():
                return
            event = json.loads(line)
            if event["type"] in ("ADDED", "MODIFIED") and (status := _behind(kind, event["object"])):
                where = f"{requests.path_of(_id(schema.api_version, kind, event['object']))}/status"
                headers = {"Content-Type": "application/merge-patch+json"}
                client.http.patch(where, headers=headers, content=json.dumps({"status": status}))


def _id(api_version: str, kind: str, found: Mapping[str, Any]) -> ObjectId:
    return ObjectId(api_version, kind, found["metadata"]["namespace"], found["metadata"]["name"])


def _behind(kind: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """The status that an object lacks; empty: it has the status of its present form."""
    generation, status = found["metadata"]["generation"], mapping_at(found, "status")
    asked = mapping_at(found["metadata"], "annotations").get("reconcile.fluxcd.io/requestedAt")
    if status.get("observedGeneration") == generation and status.get("lastHandledReconcileAt") == asked:
        return {}
    ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": _NOW}
    return {
        "observedGeneration": generation,
        "lastHandledReconcileAt": asked,
        "conditions": [{**ready, "observedGeneration": generation}],
        **_APPLIED.get(kind, {"artifact": _ARTIFACT}),
    }
