"""The objects of a plan beside the frame, and what several of them tell together: who holds which namespace and add-on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.namespaces import extra_namespaces, main_namespace
from tenantry.grants.confined.place import APP, CLUSTER, TENANT, Holder, Place, labels_of
from tenantry.kube.names import is_reserved_namespace
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.data import mapping_at


class Planned:
    """The objects of a plan beside the frame. Places are computed once."""

    def __init__(self, frame: Fleet, environment: str, objects: tuple[KubeObject, ...]) -> None:
        self.frame = frame
        self.environment = environment
        self.objects = objects
        self.planned = {(each.id.kind, each.id.namespace, each.id.name): each for each in objects}
        self._holders: dict[str, Holder] = {}
        self._places: dict[tuple[str, str], Place] = {}
        self._namespaces: dict[str, frozenset[str]] = {}
        self._reserved: dict[str, bool] = {}

    @cached_property
    def claims(self) -> dict[str, set[str]]:
        """The namespaces of all tenants, with their holders."""
        found: dict[str, set[str]] = {}
        for tenant, manifest in self._of_tenants():
            if manifest["kind"] == "Namespace":
                found.setdefault(manifest["metadata"]["name"], set()).add(tenant)
        return found

    @cached_property
    def addons(self) -> dict[tuple[str, str], ObjectId]:
        """The add-ons by their name and cluster."""
        found = {}
        for each in self.objects:
            labels = labels_of(each.manifest)
            if TENANT not in labels and APP in labels and each.id.kind in ("Kustomization", "HelmRelease"):
                found[labels[APP], labels.get(CLUSTER, "")] = each.id
        return found

    @cached_property
    def here(self) -> set[str]:
        return {name for name, cluster in self.frame.clusters.items() if self.environment in cluster.environments}

    @cached_property
    def beside(self) -> dict[str, list[str]]:
        """The clusters of the environment by the namespaces of their kubeconfigs."""
        found: dict[str, list[str]] = {}
        for name, cluster in self.frame.clusters.items():
            if cluster.kubeconfig and name in self.here:
                found.setdefault(cluster.kubeconfig.resolved.namespace, []).append(name)
        return found

    @cached_property
    def holders(self) -> set[str]:
        """The namespaces that any tenant has in the environment, whether it is placed or not."""
        names = {
            name for tenant in self.frame.document.tenants for name in _names_of(self.frame, self.environment, tenant)
        }
        return {*names, *self.claims}

    @cached_property
    def kubeconfigs(self) -> set[str]:
        """The namespaces of kubeconfigs and of the platform."""
        ways = (cluster.kubeconfig for cluster in self.frame.clusters.values() if cluster.kubeconfig)
        return {self.frame.document.platform.namespace, *(way.resolved.namespace for way in ways)}

    @cached_property
    def platforms(self) -> set[str]:
        """These, those that add-ons target, and the names of the platform's accounts."""
        found = {*self.kubeconfigs, *(each.platformServiceAccount for each in self.frame.clusters.values())}
        for each in self.objects:
            if not labels_of(each.manifest).get(TENANT):
                spec = mapping_at(each.manifest, "spec")
                found |= {str(spec[key]) for key in ("targetNamespace", "storageNamespace") if key in spec}
        return found

    def place(self, tenant: str, cluster: str) -> Place:
        if (tenant, cluster) not in self._places:
            if tenant not in self._holders:
                self._holders[tenant] = Holder(self.frame, self.environment, tenant)
            self._places[tenant, cluster] = Place(self._holders[tenant], cluster)
        return self._places[tenant, cluster]

    def clusters_of(self, each: KubeObject, labels: Mapping[str, str]) -> list[str]:
        """The cluster that an object is for; of what clusters share, those whose kubeconfigs lie beside it."""
        if cluster := labels.get(CLUSTER):
            known = cluster in self.here or cluster == self.frame.environments[self.environment].management
            return [cluster] if known else []
        return self.beside.get(each.id.namespace, [])

    def namespaces(self, place: Place) -> frozenset[str]:
        """Those of a tenant: of the main file, and where that leaves them to the team, those that nobody else claims."""
        if place.tenant not in self._namespaces:
            own = {place.main, *place.extra}
            if place.grants_setting("namespaces"):
                own |= {name for name, by in self.claims.items() if by == {place.tenant} and place.main in name}
            self._namespaces[place.tenant] = frozenset(own)
        return self._namespaces[place.tenant]

    def is_reserved(self, namespace: str) -> bool:
        if namespace not in self._reserved:
            patterns = self.frame.document.platform.reservedNamespaces
            self._reserved[namespace] = (
                is_reserved_namespace(namespace)
                or namespace in self.platforms
                or any(fnmatchcase(namespace, each) for each in patterns)
            )
        return self._reserved[namespace]

    def _of_tenants(self) -> Iterator[tuple[str, Manifest]]:
        """All objects of tenants with what their baselines install."""
        for each in self.objects:
            if tenant := labels_of(each.manifest).get(TENANT):
                yield tenant, each.manifest
                if not labels_of(each.manifest).get(APP):
                    yield from (
                        (tenant, made) for made in mapping_at(each.manifest, "spec", "values").get("objects", ())
                    )


def _names_of(frame: Fleet, environment: str, tenant: str) -> tuple[str, ...]:
    return main_namespace(frame, environment, tenant), *extra_namespaces(frame, environment, tenant).values()
