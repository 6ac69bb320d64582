"""Starts a sandbox and takes it down.

etcd starts first, then all API servers; what works with one of them starts as soon as it is ready, while objects are applied.
What already runs as described is left alone, so a second run repairs a sandbox and otherwise changes nothing.
"""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tenantry.kube.objects import ObjectId, object_id
from tenantry_sandbox import content, flux, process, programs
from tenantry_sandbox.api import Access
from tenantry_sandbox.cluster import ETCD_PORTS, Cluster, cluster_of, etcd_of
from tenantry_sandbox.layout import RESERVED, Layout, SandboxError, Unreachable
from tenantry_sandbox.programs import documents
from tenantry_sandbox.spec import Manifest, RemoteSpec, SandboxSpec
from tenantry_sandbox.supervisor import Part, Report, State, Supervisor, end, load

DOWN = "tenantry sandbox down"


def up(spec: SandboxSpec, root: Path, report: Report) -> None:
    """Start the spec's clusters, with Flux on the management cluster, and the content server; return when all are ready.

    A second run restarts processes that have ended, applies changes, and otherwise does nothing. A run that fails or is
    interrupted ends the processes that it started. If it was the first, a failure leaves the logs, and anything else leaves no
    directory behind.

    Args:    root: the sandbox's directory; made if it is not there.
    Raises:  SandboxError: with the reason, or the part that failed.
             ToolsError: a program is missing.
    """
    for name in RESERVED.intersection(spec.clusters):
        message = f"a cluster in a sandbox cannot be called {name!r}: the sandbox itself uses that name"
        raise SandboxError(message, "give the cluster another name")
    programs.require()
    layout = Layout(root.resolve())
    fresh = layout.claim()
    with layout.locked():
        try:
            _bring_up(spec, layout, report)
        except BaseException as failure:
            if fresh and (isinstance(failure, KeyboardInterrupt) or not layout.logs.exists()):
                layout.remove()
            raise


def down(root: Path, report: Report) -> None:
    """End every process of the sandbox, and remove its directory with everything in it.

    That includes the logs, and Pulumi's state of stacks that ran against the sandbox: the clusters in that state are gone.

    Raises:  SandboxError: the directory is not a sandbox, or a process does not end.
    """
    layout = Layout(root.resolve())
    if not layout.root.exists():
        report(f"no sandbox in {root}")
        return
    layout.require()
    with layout.locked():
        state = load(layout)
        running = list(state.running.values()) if state else []
        end(running)
        alive = [part for part in running if part.process.find()]
        if alive:
            names = ", ".join(f"{part.part} of {part.owner} (pid {part.process.pid})" for part in alive)
            raise SandboxError(f"could not end {names}", "end these processes, then run the command again")
        report(f"ended {len(running)} processes")
        layout.remove()
    report("the sandbox is removed")


def _bring_up(spec: SandboxSpec, layout: Layout, report: Report) -> None:
    state = load(layout) or State(environment=spec.environment, clusters=spec.clusters)
    _check_same(spec, layout, state, report)
    state.ports = process.allocate(port_names(spec), state.ports)
    state.clusters = (*state.clusters, *(name for name in spec.clusters if name not in state.clusters))
    state.save(layout)
    supervisor = Supervisor(layout, state, report)
    try:
        BringUp(spec, layout, state.ports, supervisor).run()
    except BaseException:
        supervisor.take_back()
        raise


def _check_same(spec: SandboxSpec, layout: Layout, state: State, report: Report) -> None:
    if (state.environment, state.clusters[0]) != (spec.environment, spec.management):
        message = (
            f"the sandbox in {layout.root} runs environment {state.environment!r} on {state.clusters[0]}, "
            f"not {spec.environment!r} on {spec.management}"
        )
        raise SandboxError(message, f"take it down first: {DOWN}")
    for name in state.clusters:
        if name not in spec.clusters:
            report(f"{name} is no longer part of environment {spec.environment!r}; it keeps running until `{DOWN}`")


def port_names(spec: SandboxSpec) -> tuple[str, ...]:
    """Names of the ports that the processes need."""
    clusters = (f"{cluster}/{part}" for cluster in spec.clusters for part in ("kube-apiserver", "kwok"))
    controllers = (f"{spec.management}/{name}" for name in flux.ports_of(spec.shards))
    return (*ETCD_PORTS, content.PORT, *clusters, *controllers)


@dataclass(slots=True)
class BringUp:
    """One run of `up`."""

    spec: SandboxSpec
    layout: Layout
    ports: dict[str, int]
    supervisor: Supervisor

    def run(self) -> None:
        etcd = etcd_of(self.layout, self.ports)
        self._bring(etcd.part(), etcd.ready)
        clusters = {name: cluster_of(self.layout, self.ports, name) for name in self.spec.clusters}
        # They start beside each other while this waits for the first.
        for cluster in clusters.values():
            cluster.publish_kubeconfig()
            self.supervisor.ensure(cluster.apiserver())
        content.publish(self.layout.root, self.spec)
        port = self.ports[content.PORT]
        server = content.server(self.layout, port)
        self.supervisor.ensure(server)
        for cluster in clusters.values():
            self._begin(cluster)
        self.supervisor.wait(server, lambda: process.answers(port, "/healthz"))
        kubeconfigs = (kubeconfig_objects(remote, clusters[remote.name].administrator) for remote in self.spec.remotes)
        self._bring_management(clusters[self.spec.management], [*chain.from_iterable(kubeconfigs)])
        for remote in self.spec.remotes:
            self._apply(clusters[remote.name], remote.bootstrap)
        for cluster in clusters.values():
            self.supervisor.wait(cluster.controller_manager(), partial(has_accounts, cluster))
            self.supervisor.wait(cluster.nodes(), partial(has_nodes, cluster))
        self.supervisor.retire()

    def _begin(self, cluster: Cluster) -> None:
        """Wait for the API server, and start what works with it."""
        self._bring(cluster.apiserver(), cluster.api.ready)
        self.supervisor.ensure(cluster.controller_manager(), cluster.scheduler(), cluster.nodes())
        self._apply(cluster, documents("nodes.yaml"))

    def _bring_management(self, cluster: Cluster, kubeconfigs: Iterable[Manifest]) -> None:
        crds = flux.definitions()
        self._apply(cluster, (*crds, *documents("flux.yaml"), *kubeconfigs))
        self.supervisor.wait(cluster.apiserver(), lambda: all(is_established(cluster, crd) for crd in crds))
        ports = {name: self.ports[f"{cluster.name}/{name}"] for name in flux.ports_of(self.spec.shards)}
        proxy = f"http://127.0.0.1:{self.ports[content.PORT]}"
        controllers = flux.Flux(cluster, ports, proxy, self.spec.shards, self.spec.flags)
        parts = controllers.parts()
        self.supervisor.ensure(*parts)
        self._apply(cluster, self.spec.bootstrap)
        for part in parts:
            self.supervisor.wait(part, partial(controllers.ready, part.name))

    def _bring(self, part: Part, ready: Callable[[], bool]) -> None:
        self.supervisor.ensure(part)
        self.supervisor.wait(part, ready)

    def _apply(self, cluster: Cluster, manifests: Iterable[Manifest]) -> None:
        for manifest in manifests:
            try:
                cluster.api.apply(manifest)
            except Unreachable:
                # If a part has ended, that is the better error.
                self.supervisor.check()
                raise


MANAGED = {"app.kubernetes.io/managed-by": "tenantry-sandbox"}


def kubeconfig_objects(remote: RemoteSpec, access: Access) -> tuple[Manifest, ...]:
    """The Secret with a remote's kubeconfig, and its namespace."""
    # The label makes Flux reconcile as soon as the Secret appears or changes.
    labels = {**MANAGED, "reconcile.fluxcd.io/watch": "Enabled"}
    secret: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": remote.secret.name, "namespace": remote.secret.namespace, "labels": labels},
        "data": {remote.secret.key: base64.b64encode(access.kubeconfig().encode()).decode()},
    }
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": remote.secret.namespace, "labels": MANAGED},
    }
    return (namespace, secret)


def is_established(cluster: Cluster, crd: Manifest) -> bool:
    """Whether objects of a definition's kind can be created."""
    return _has_condition(cluster, object_id(crd), "Established")


def has_accounts(cluster: Cluster) -> bool:
    """Whether the controller manager works: it gives each namespace its default service account."""
    return cluster.api.get(ObjectId("v1", "ServiceAccount", "default", "default")) is not None


def has_nodes(cluster: Cluster) -> bool:
    """Whether kwok works: it has made every node Ready."""
    return all(_has_condition(cluster, object_id(node), "Ready") for node in documents("nodes.yaml"))


def _has_condition(cluster: Cluster, id: ObjectId, kind: str) -> bool:
    conditions = (cluster.api.get(id) or {}).get("status", {}).get("conditions", [])
    return any((condition["type"], condition["status"]) == (kind, "True") for condition in conditions)
