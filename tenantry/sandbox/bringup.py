"""Starts everything that a spec describes: what depends on each other in order, the rest in parallel.

etcd starts first, then every API server; as soon as one is ready, the parts around it start while objects are applied.
What already runs as described is left alone, so a second run repairs a sandbox and otherwise changes nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import yaml

from tenantry.sandbox import api, content, flux
from tenantry.sandbox.cluster import CLIENT_PORT, PEER_PORT, Cluster, Etcd
from tenantry.sandbox.content import Content
from tenantry.sandbox.flux import Flux
from tenantry.sandbox.layout import Layout, Unreachable
from tenantry.sandbox.spec import HubSpec, Manifest, RemoteSpec, SandboxSpec
from tenantry.sandbox.supervisor import Part, Supervisor
from tenantry.tools.locate import crds


def port_names(spec: SandboxSpec) -> tuple[str, ...]:
    """Names of the ports that the processes need, except the content server's."""
    clusters = (f"{cluster}/{part}" for cluster in spec.clusters for part in ("kube-apiserver", "kwok"))
    controllers = (f"{hub.name}/{name}" for hub in spec.hubs for name in flux.ports_of(spec.shards))
    return (CLIENT_PORT, PEER_PORT, *clusters, *controllers)


@dataclass(slots=True)
class BringUp:
    """One run of `up`."""

    spec: SandboxSpec
    layout: Layout
    ports: dict[str, int]
    supervisor: Supervisor

    def run(self) -> None:
        etcd = Etcd(self.layout, self.ports[CLIENT_PORT], self.ports[PEER_PORT])
        self._bring(etcd.part(), etcd.ready)
        clusters = {name: self._cluster(name, etcd) for name in self.spec.clusters}
        for cluster in clusters.values():
            cluster.publish_kubeconfig()
        self.supervisor.concurrently(
            self._serve_content,
            *(partial(self._bring_management, hub, clusters) for hub in self.spec.hubs),
            *(self._remote_task(clusters[remote.name], remote) for remote in self.spec.remotes),
        )

    def _cluster(self, name: str, etcd: Etcd) -> Cluster:
        return Cluster(name, self.layout, self.ports[f"{name}/kube-apiserver"], self.ports[f"{name}/kwok"], etcd)

    def _serve_content(self) -> None:
        content.publish(self.layout.root, self.spec)
        if self.spec.ports:
            server = Content(self.layout, self.spec.ports)
            self._bring(server.part(), server.ready)

    def _remote_task(self, cluster: Cluster, remote: RemoteSpec) -> Callable[[], None]:
        return lambda: self._bring_cluster(cluster, remote.bootstrap)

    def _bring_management(self, hub: HubSpec, clusters: dict[str, Cluster]) -> None:
        cluster = clusters[hub.name]
        kubeconfigs = [
            manifest
            for remote in hub.remotes
            for manifest in api.kubeconfig_objects(remote, clusters[remote.name].administrator)
        ]
        crds = definitions()
        self._bring_cluster(cluster, (*crds, *flux.manifests(), *kubeconfigs))
        self.supervisor.wait(cluster.apiserver(), lambda: all(established(cluster, crd) for crd in crds))
        self._bring_flux(cluster)
        self._apply(cluster, hub.bootstrap)

    def _bring_cluster(self, cluster: Cluster, manifests: Iterable[Manifest]) -> None:
        self._bring(cluster.apiserver(), cluster.api.ready)
        manager, scheduler, nodes = cluster.controller_manager(), cluster.scheduler(), cluster.nodes()
        self.supervisor.ensure(manager, scheduler, nodes)
        self._apply(cluster, (*(api.node(name) for name in api.NODES), *manifests))
        self.supervisor.wait(manager, lambda: accounts_ready(cluster))
        self.supervisor.wait(nodes, lambda: nodes_ready(cluster))

    def _bring_flux(self, cluster: Cluster) -> None:
        ports = {name: self.ports[f"{cluster.name}/{name}"] for name in flux.ports_of(self.spec.shards)}
        controllers = Flux(cluster, ports, self.spec.shards, self.spec.flags)
        parts = controllers.parts()
        self.supervisor.retire(cluster.name, flux.is_of_a_shard, {part.name for part in parts})
        self.supervisor.ensure(*parts)
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


def definitions() -> list[Manifest]:
    """Flux's CRDs."""
    return [document for path in crds() for document in yaml.load_all(path.read_bytes(), yaml.CSafeLoader)]


def established(cluster: Cluster, crd: Manifest) -> bool:
    """Whether objects of a definition's kind can be created."""
    return _holds(cluster.api.get(crd["apiVersion"], crd["kind"], crd["metadata"]["name"]), "Established")


def accounts_ready(cluster: Cluster) -> bool:
    """Whether the controller manager works: it gives each namespace its default service account."""
    return cluster.api.get("v1", "ServiceAccount", "default", "default") is not None


def nodes_ready(cluster: Cluster) -> bool:
    """Whether kwok works: it has made every node Ready."""
    return all(_holds(cluster.api.get("v1", "Node", name), "Ready") for name in api.NODES)


def _holds(manifest: Manifest | None, condition: str) -> bool:
    conditions = manifest.get("status", {}).get("conditions", []) if manifest else []
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)
