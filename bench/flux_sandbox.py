"""A sandbox whose controllers' flags and shards change, and requests to Flux whose cost is measured."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from bench.measure import Failed
from bench.parts import processor
from tenantry.cluster import requests
from tenantry.cluster.client import Client
from tenantry.cluster.connect import connect
from tenantry.cluster.control import now_token, request_source
from tenantry.cluster.status import Readiness, condition, readiness
from tenantry.kube.objects import KubeObject, Manifest, object_id
from tenantry.load import fleet_of
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import CLUSTER_LABEL, SHARDED
from tenantry.plan.plan import plan
from tenantry.sandbox import lifecycle, process
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.spec import spec_of
from tenantry.source.parse import parse

CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller")
_PARTS = (*CONTROLLERS, "kube-apiserver", "etcd")
_POLL = 0.3
_PATIENCE = 600
_CALM = 0.05
"""Cores in use by the controllers when nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Spent:
    """seconds: wall clock; processor: seconds by program, of all its processes."""

    objects: int
    seconds: float
    processor: Mapping[str, float]


class Sandbox:
    """content: writes what the sandbox serves into a directory."""

    def __init__(self, root: Path, content: Callable[[Path], None]) -> None:
        self.port = process.allocate(["content"], {}, ())["content"]
        self._root = root / "sandbox"
        self._content = root / "content"
        content(self._content)
        self._objects: tuple[KubeObject, ...] = ()
        self._is_installed = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.callback(lambda: lifecycle.down(self._root, _silent))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def up(self, text: bytes, flags: Mapping[str, Mapping[str, object]] | None = None) -> None:
        """Have the controllers that a fleet needs, with these flags."""
        fleet = fleet_of(parse(text, "tenants.yaml"))
        planned = plan(fleet, "prod")
        self._objects = planned.objects
        lifecycle.up(replace(spec_of(fleet, planned, self._content), flags=flags or {}), self._root, _silent)
        self._settle()

    def apply(self) -> Spent:
        """Bring the fleet's objects to the cluster, after the first time only Flux's own, and wait until Flux is done with them."""
        objects = [each for each in self._objects if each.id.kind in SHARDED or not self._is_installed]
        groups = [[each for each in objects if _rank(each) == rank] for rank in range(_LAST + 1)]
        with self._client() as client:
            spent = self._measured(len(objects), lambda: self._install(client, groups))
        self._is_installed = True
        return spent

    def reconcile(self, kind: str, cluster: str) -> Spent:
        """Ask all objects of a kind for a cluster to reconcile, and wait until they have."""
        ids = [each.id for each in self._objects if each.id.kind == kind and each.owner.cluster == cluster]
        with self._client() as client:

            def run() -> None:
                token = now_token()
                live = _listed(client, ids[0].api_version, kind, cluster)
                requests.in_parallel(lambda each: request_source(client, each, token, dry_run=False), live)
                _until(lambda: _handled(_listed(client, ids[0].api_version, kind, cluster), token))

            return self._measured(len(ids), run)

    def chain(self, length: int) -> float:
        """Seconds until new Kustomizations are ready that depend on each other."""
        model = next(each for each in self._objects if (each.id.kind, each.owner.cluster) == ("Kustomization", "hub"))
        tag = str(time.monotonic_ns())
        made = [_copy(model.manifest, tag, number) for number in range(length)]
        with self._client() as client:
            begun = time.perf_counter()
            requests.in_parallel(lambda each: _apply(client, each), made)
            names = {each["metadata"]["name"] for each in made}

            def ready() -> bool:
                live = _listed(client, model.id.api_version, model.id.kind, tag)
                return len(live) == len(names) and all(_is_ready(each) for each in live)

            _until(ready)
            return time.perf_counter() - begun

    def _install(self, client: Client, groups: Iterable[Iterable[KubeObject]]) -> None:
        for group in groups:
            requests.in_parallel(lambda each: _apply(client, each.manifest), group)
        api = {each.id.kind: each.id.api_version for each in self._objects if each.id.kind in SHARDED}
        _until(lambda: all(_is_ready(each) for kind in api for each in requests.every(client, api[kind], kind)))
        self._settle()

    def _client(self) -> Client:
        return connect(Layout(self._root).kubeconfig("hub"), None)

    def _measured(self, objects: int, run: Callable[[], None]) -> Spent:
        before, begun = self._processor(), time.perf_counter()
        run()
        seconds, after = time.perf_counter() - begun, self._processor()
        return Spent(objects, seconds, {each: after[each] - before[each] for each in _PARTS})

    def _processor(self) -> dict[str, float]:
        return processor(self._root, _PARTS)

    def _settle(self) -> None:
        """Wait until the controllers are idle."""

        def idle() -> bool:
            before = self._processor()
            time.sleep(1)
            after = self._processor()
            return sum(after[each] - before[each] for each in CONTROLLERS) < _CALM

        _until(idle)


_APPLIERS = ("Kustomization", "HelmRelease")
_RANKS = {"Namespace": 0, "ServiceAccount": 1, "HelmChart": 4, **dict.fromkeys(_APPLIERS, 5)}
_LAST = 5


def _rank(object: KubeObject) -> int:
    """What is applied one after the other; in each step many objects at once."""
    return _RANKS.get(object.id.kind, 3 if object.id.kind in SHARDED else 2)


def _apply(client: Client, manifest: Manifest) -> None:
    """Create or change an object by server-side apply."""
    headers = {"Content-Type": "application/apply-patch+yaml"}
    parameters = {"fieldManager": "tenantry", "force": "true"}
    path = requests.path_of(object_id(manifest))
    client.http.patch(path, params=parameters, headers=headers, content=json.dumps(manifest)).raise_for_status()


def _listed(client: Client, api_version: str, kind: str, cluster: str) -> list[Manifest]:
    found = requests.every(client, api_version, kind, selector=f"{CLUSTER_LABEL}={cluster}")
    return [{**each, "apiVersion": api_version, "kind": kind} for each in found]


def _handled(live: Iterable[Manifest], token: str) -> bool:
    return all(mapping_at(each, "status").get("lastHandledReconcileAt") == token for each in live)


def _is_ready(manifest: Manifest) -> bool:
    ready = condition(mapping_at(manifest, "status"), "Ready")
    return readiness(manifest, ready) is Readiness.READY or mapping_at(manifest, "spec").get("type") == "oci"


def _copy(model: Manifest, tag: str, number: int) -> dict[str, Any]:
    """A Kustomization like the model, after the one before it."""
    metadata = model["metadata"]
    spec = {**model["spec"], "prune": False}
    if number:
        spec["dependsOn"] = [{"name": f"chain-{tag}-{number - 1}"}]
    labels = {**metadata["labels"], CLUSTER_LABEL: tag}
    return {**model, "metadata": {**metadata, "name": f"chain-{tag}-{number}", "labels": labels}, "spec": spec}


def _until(done: Callable[[], bool]) -> None:
    """Raises: Failed: it never is."""
    end = time.monotonic() + _PATIENCE
    while not done():
        if time.monotonic() > end:
            raise Failed(f"Flux did not finish within {_PATIENCE} s")
        time.sleep(_POLL)


def _silent(_: str) -> None:
    pass
