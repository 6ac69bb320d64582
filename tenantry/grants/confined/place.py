"""A tenant on a cluster, as the main file alone has it with the merged grants: its names, settings, variables and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tenantry.fleet.fleet import Fleet, hub_of
from tenantry.fleet.namespaces import extra_namespaces, former_main, main_namespace
from tenantry.fleet.settings import TenantSettings, namespace_settings, tenant_states, variables_of
from tenantry.fleet.template import fill
from tenantry.grants.grants import grants_of
from tenantry.grants.model import Grants
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found
from tenantry.model import ConfigMap, SecretKey, Tenant

TENANT, ROLE, MANAGED = "toolkit.fluxcd.io/tenant", "toolkit.fluxcd.io/role", "app.kubernetes.io/managed-by"
ENVIRONMENT, CLUSTER, APP, SOURCE, STATE, ACCOUNT = (
    f"tenantry/{each}" for each in ("environment", "cluster", "app", "source", "state", "account")
)
SHARD, PRUNE, PODS = "sharding.fluxcd.io/key", "kustomize.toolkit.fluxcd.io/prune", "pod-security.kubernetes.io/"
PROVIDER = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": "tenantry",
    "pulumi.com/patchForce": "true",
    "pulumi.com/waitFor": "condition=Ready",
    "helm.sh/resource-policy": "keep",
    PRUNE: "disabled",
}
"""Annotations with an effect on Pulumi, Helm or Flux, and the one value of each that the fleet sets."""


@dataclass(frozen=True)
class Place:
    """A tenant on a cluster, as the frame has it. cluster: "" of what clusters share, whose place is that of one of them."""

    frame: Fleet
    environment: str
    tenant: str
    cluster: str
    _settings: dict[str, TenantSettings] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def grants(self) -> Grants:
        return grants_of(self.frame, self.tenant) or Grants()

    def grants_setting(self, *settings: str) -> bool:
        return not {*(self.grants.settings or ())}.isdisjoint(settings)

    @cached_property
    def main(self) -> str:
        return main_namespace(self.frame, self.environment, self.tenant)

    @cached_property
    def extra(self) -> dict[str, str]:
        """The keys of the extra namespaces by their names."""
        return {name: key for key, name in extra_namespaces(self.frame, self.environment, self.tenant).items()}

    @cached_property
    def mains(self) -> tuple[str, ...]:
        """The main namespaces that names of objects can contain: the tenant's, and those of tenants that gave it an app."""
        owners = [owner for each in self.declared.namespaces.values() for owner in each.formerly]
        return self.main, *(former_main(self.frame, self.environment, owner.tenant) for owner in owners)

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """With what the names of the tenant's objects begin beside a kubeconfig."""
        own = [f"{self.cluster}{sign}{main}{sign}" for main in self.mains for sign in "-."]
        return (*own, *(f"{main}." for main in self.mains))

    @property
    def declared(self) -> Tenant:
        return self.frame.document.tenants[self.tenant]

    @cached_property
    def kubeconfig(self) -> SecretKey | ConfigMap | None:
        """None: the cluster is its own management cluster."""
        written = self.frame.clusters[self.cluster].kubeconfig
        is_hub = hub_of(self.frame, self.environment, self.cluster) == self.cluster
        return None if is_hub or written is None else written.resolved

    @property
    def home(self) -> str:
        return self.kubeconfig.namespace if self.kubeconfig else self.main

    @cached_property
    def account(self) -> str:
        """Of pods, and on a management cluster of Flux."""
        own = self.declared.serviceAccount
        return own.name if own and own.name else self.declared.first_name(self.tenant)

    @property
    def impersonated(self) -> str:
        return self.main if self.kubeconfig else self.account

    def settings(self, namespace: str) -> TenantSettings:
        key = self.extra.get(namespace, "")
        if key not in self._settings:
            self._settings[key] = namespace_settings(self.frame, self.tenant, self.environment, self.cluster, key)
        return self._settings[key]

    @cached_property
    def variables(self) -> dict[str, Any]:
        return variables_of(self.frame, self.environment, self.cluster, tenant=self.tenant)

    def patterns(self, *keys: str) -> list[str]:
        """The granted addresses."""
        given = [each for key in keys for each in getattr(self.grants, key) or ()]
        return [str(fill(each, self.variables, ())) for each in given]

    def declares(self, group: str, name: str) -> bool:
        """Whether the main file, or a class of it, has an entry of the tenant."""
        return name in mapping_at(self.frame.source.data, "tenants", self.tenant, group)

    def shares(self, group: str, name: str) -> bool:
        return name in (getattr(self.grants.share, group, None) or ())

    @property
    def has_variables(self) -> bool:
        """Whether the team's file fills in what the main file writes."""
        return "variables" in self.frame.source.fills[self.tenant].file.data["tenants"][self.tenant]

    @cached_property
    def said(self) -> tuple[Mapping[str, Any], ...]:
        """What the main file, and files of it for an environment, say of the tenant."""
        files = (each.data for files in self.frame.source.overlays.values() for each in files)
        overlays = (mapping_at(data, "tenants", self.tenant) for data in files)
        return self.frame.raw("tenants", self.tenant), self.frame.raw("defaults"), *overlays

    @cached_property
    def written(self) -> frozenset[str]:
        """Every text and number of the main file's for the tenant: nobody else chose it."""
        return frozenset(each for part in self.said for each in _scalars(part, self.variables))

    @cached_property
    def metadata(self) -> frozenset[tuple[str, str]]:
        """The labels and annotations that the main file itself gives Flux objects of the tenant."""
        return frozenset(each for part in self.said for each in _metadata_of(part))


def labels_of(manifest: Manifest) -> dict[str, str]:
    return manifest["metadata"].get("labels") or {}


def unknown_metadata(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key in metadata.keys() - {"name", "namespace", "labels", "annotations"}:
        yield f"fills metadata.{key}, a field that no tenant may fill"


def fleets_labels(place: Place, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that the fleet sets on every object of the tenant there."""
    there = {CLUSTER: place.cluster} if labels.get(CLUSTER) else {}
    return {MANAGED: "tenantry", TENANT: place.tenant, ENVIRONMENT: place.environment, **there}


def is_fleets(key: str) -> bool:
    """Whether a label or annotation has an effect on the fleet, Pulumi, Flux or pod security."""
    return key.startswith(("tenantry/", "pulumi.com/", PODS)) or key.partition("/")[0].endswith("fluxcd.io")


def states_of(place: Place, namespace: str) -> set[str]:
    """What the label for the state may say: the guard lets a run remove what says that it leaves."""
    of_cluster = place.frame.clusters[place.cluster].state
    if of_cluster == "decommissioned":
        return {"decommissioned"}
    own = place.declared.namespaces.get(namespace)
    declared = {*tenant_states(place.frame, place.tenant, place.cluster), of_cluster, own.state if own else "active"}
    return {str(each) for each in declared} & {"removing", "offboarding"}


def kubeconfig_reference(way: SecretKey | ConfigMap | None) -> Manifest | None:
    if way is None:
        return None
    return (
        {"configMapRef": {"name": way.name}}
        if isinstance(way, ConfigMap)
        else {"secretRef": {"name": way.name, "key": way.key}}
    )


def _metadata_of(value: Any) -> set[tuple[str, str]]:
    """The labels and annotations that the main file itself gives Flux objects of a tenant."""
    found: set[tuple[str, str]] = set()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "metadata":
                found |= {(kind, name) for kind in ("labels", "annotations") for name in mapping_at(inner, kind)}
            found |= _metadata_of(inner)
    elif isinstance(value, list):
        found |= {each for inner in value for each in _metadata_of(inner)}
    return found


def _scalars(value: Any, variables: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _scalars(each, variables)
        return
    yield str(value)
    if isinstance(value, str) and "{" in value:
        try:
            yield str(fill(value, variables, ()))
        except Found:
            return  # one that only an app has
