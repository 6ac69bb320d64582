"""A sandbox whose controllers' flags change, and requests to Flux whose cost is measured."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from bench.measure import Failed
from bench.parts import processes, processor
from tenantry.cluster import requests
from tenantry.cluster.client import Client
from tenantry.cluster.connect import connect
from tenantry.kube.objects import KubeObject, Manifest, object_id
from tenantry.load import fleet_of
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import CLUSTER_LABEL, SHARDED
from tenantry.plan.plan import plan
from tenantry.rollout.flux_status import REQUESTED, Readiness, state_of
from tenantry.source.parse import parse
from tenantry_sandbox import content, up
from tenantry_sandbox.layout import Layout
from tenantry_sandbox.spec import spec_of

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
        self._root = root / "sandbox"
        self._content = root / "content"
        content(self._content)
        self._objects: tuple[KubeObject, ...] = ()
        self._apps: list[Manifest] = []
        self._is_installed = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.callback(lambda: up.down(self._root, _silent))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def up(self, text: bytes, flags: Mapping[str, Mapping[str, object]] | None = None) -> None:
        """Have the controllers that a fleet needs, with these flags."""
        fleet = fleet_of(parse(text, "tenants.yaml"))
        planned = plan(fleet, "prod")
        self._objects = planned.objects
        up.up(
            replace(spec_of(fleet, planned, self._content), flags=flags or {}),
            self._root,
            _silent,
        )
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
                token = datetime.now(UTC).isoformat()
                live = _listed(client, ids[0].api_version, kind, cluster)
                requests.in_parallel(lambda each: _request(client, each, token), live)
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

    def bring(self, manifests: Iterable[Manifest]) -> Spent:
        """Bring objects to the management cluster, and what they are installed in to the remote; wait until all are ready."""
        made = list(manifests)
        apps = [each for each in made if each["kind"] == "Kustomization"]
        homes = sorted({each["metadata"]["namespace"] for each in made})
        users = {f"system:serviceaccount:{_home(each)}:{each['spec']['serviceAccountName']}" for each in apps}
        with connect(Layout(self._root).kubeconfig("edge"), None) as remote:
            targets = [_namespace(each["spec"]["targetNamespace"]) for each in apps]
            requests.in_parallel(lambda each: _apply(remote, each), [*targets, _administrators(sorted(users))])
        with self._client() as client:
            requests.in_parallel(lambda each: _apply(client, each), [_namespace(each) for each in homes])
            ids = {(each["kind"], each["metadata"]["name"]) for each in made}
            for kind in ("GitRepository", "Kustomization"):  # those of another setting
                for each in requests.every(client, _API[kind], kind):
                    if (kind, each["metadata"]["name"]) not in ids:
                        path = requests.path_of(object_id({**each, "apiVersion": _API[kind], "kind": kind}))
                        client.http.delete(path).raise_for_status()
            self._apps = apps

            def run() -> None:
                requests.in_parallel(lambda each: _apply(client, each), [each for each in made if each not in apps])
                requests.in_parallel(lambda each: _apply(client, each), apps)
                _until(
                    lambda: all(
                        _is_ready(each) for each in requests.every(client, _API["Kustomization"], "Kustomization")
                    )
                )

            return self._measured(len(apps), run)

    def push(self, repository: str, files: Mapping[str, str]) -> Spent:
        """Commit, ask all sources to fetch as a receiver does, and wait until each app has the commit."""
        with self._client() as client:
            commit = content.commit(self._root, repository, files, "Another version")
            fetched = requests.every(client, _API["GitRepository"], "GitRepository")
            live = [{**each, "apiVersion": _API["GitRepository"], "kind": "GitRepository"} for each in fetched]
            token = datetime.now(UTC).isoformat()

            def run() -> None:
                requests.in_parallel(lambda each: _request(client, each, token), live)
                _until(
                    lambda: all(
                        _has(each, commit) for each in requests.every(client, _API["Kustomization"], "Kustomization")
                    )
                )

            return self._measured(len(self._apps), run)

    def requests(self) -> dict[str, int]:
        """How many requests the API servers have answered, by cluster."""
        found = {}
        for cluster in ("hub", "edge"):
            with connect(Layout(self._root).kubeconfig(cluster), None) as client:
                text = client.http.get("/metrics").raise_for_status().text
            lines = (line for line in text.splitlines() if line.startswith("apiserver_request_total{"))
            found[cluster] = int(sum(float(line.rpartition(" ")[2]) for line in lines))
        return found

    def memory(self) -> dict[str, int]:
        """What the controllers hold in memory, in MB."""
        return {part: process.memory_info().rss // 10**6 for part, process in processes(self._root, CONTROLLERS)}

    def kubeconfig(self, cluster: str) -> str:
        return Layout(self._root).kubeconfig(cluster).read_text()

    def api_port(self, cluster: str) -> int:
        found = re.search(r"server: https://127\.0\.0\.1:(\d+)", self.kubeconfig(cluster))
        assert found
        return int(found[1])

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


_API = {"GitRepository": "source.toolkit.fluxcd.io/v1", "Kustomization": "kustomize.toolkit.fluxcd.io/v1"}


def _home(manifest: Manifest) -> str:
    return str(manifest["metadata"]["namespace"])


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _administrators(users: Iterable[str]) -> Manifest:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "bench"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": each} for each in users],
    }


def _has(app: Manifest, commit: str) -> bool:
    return str(mapping_at(app, "status").get("lastAppliedRevision")).endswith(commit) and _is_ready(app)


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


def _request(client: Client, live: Manifest, token: str) -> None:
    """Ask Flux to reconcile an object now."""
    annotations = {"metadata": {"annotations": {REQUESTED: token}}}
    requests.patched(client, object_id(live), annotations, manager=requests.FIELD_MANAGER, dry_run=False)


def _listed(client: Client, api_version: str, kind: str, cluster: str) -> list[Manifest]:
    found = requests.every(client, api_version, kind, selector=f"{CLUSTER_LABEL}={cluster}")
    return [{**each, "apiVersion": api_version, "kind": kind} for each in found]


def _handled(live: Iterable[Manifest], token: str) -> bool:
    return all(mapping_at(each, "status").get("lastHandledReconcileAt") == token for each in live)


def _is_ready(manifest: Manifest) -> bool:
    return state_of(manifest) is Readiness.READY


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
