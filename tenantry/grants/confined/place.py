"""A tenant on a cluster, as the main file alone has it with the merged grants: its names, settings, variables and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tenantry.fleet import placement
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.namespaces import extra_namespaces, main_namespace
from tenantry.fleet.settings import TenantSettings, namespace_layers, settings_of, tenant_states, variables_of
from tenantry.fleet.template import fill
from tenantry.grants.grants import grants_of
from tenantry.grants.model import Grants
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found, Path
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
class Holder:
    """What a tenant has on all clusters of an environment alike, computed once for all of its places."""

    frame: Fleet
    environment: str
    tenant: str
    _settings: dict[tuple[Path, ...], TenantSettings] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def grants(self) -> Grants:
        return grants_of(self.frame, self.tenant) or Grants()

    @cached_property
    def granted_settings(self) -> frozenset[str]:
        return frozenset(self.grants.settings or ())

    @property
    def declared(self) -> Tenant:
        return self.frame.document.tenants[self.tenant]

    @cached_property
    def main(self) -> str:
        return main_namespace(self.frame, self.environment, self.tenant)

    @cached_property
    def extra(self) -> dict[str, str]:
        """The keys of the extra namespaces by their names."""
        return {name: key for key, name in extra_namespaces(self.frame, self.environment, self.tenant).items()}

    @cached_property
    def account(self) -> str:
        """Of pods, and on a management cluster of Flux."""
        own = self.declared.serviceAccount
        return own.name if own and own.name else self.tenant

    @cached_property
    def cluster_objects(self) -> dict[str, dict[str, Any]]:
        """What the main file writes outside of namespaces, by its keys."""
        return {key: each.model_dump(exclude_none=True) for key, each in self.declared.clusterObjects.items()}

    def settings(self, cluster: str, key: str) -> TenantSettings:
        """In an extra namespace by its key; "": in the main one. The paths of its layers in the frame say what is in them."""
        layers = namespace_layers(self.frame, self.tenant, self.environment, cluster, key)
        paths = tuple(each.path for each in layers)
        if paths not in self._settings:
            self._settings[paths] = settings_of(layers)
        return self._settings[paths]

    @cached_property
    def said(self) -> tuple[Mapping[str, Any], ...]:
        """What the main file says of the tenant."""
        return self.frame.raw("tenants", self.tenant), self.frame.raw("defaults")

    @cached_property
    def written(self) -> frozenset[str]:
        """Every text and number of the main file's for the tenant."""
        return frozenset(str(each) for part in self.said for each in scalars(part))

    @cached_property
    def templates(self) -> tuple[str, ...]:
        """The texts of these that each cluster fills in."""
        texts = {each for part in self.said for each in scalars(part) if isinstance(each, str) and "{" in each}
        return tuple(texts)

    @cached_property
    def metadata(self) -> frozenset[tuple[str, str]]:
        """The labels and annotations that the main file itself gives Flux objects of the tenant."""
        return frozenset(each for part in self.said for each in _metadata_of(part))


class Place:
    """A tenant on a cluster, as the frame has it. What clusters share has the place of one of them."""

    def __init__(self, holder: Holder, cluster: str) -> None:
        self.holder, self.cluster = holder, cluster
        self.frame, self.environment, self.tenant = holder.frame, holder.environment, holder.tenant
        self.declared, self.grants, self.main, self.extra = holder.declared, holder.grants, holder.main, holder.extra
        self._settings: dict[str, TenantSettings] = {}
        self._misplaced: dict[str, tuple[str, ...]] = {}

    def grants_setting(self, *settings: str) -> bool:
        return not self.holder.granted_settings.isdisjoint(settings)

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """With what the names of the tenant's objects begin beside a kubeconfig."""
        return (*(f"{self.cluster}{sign}{self.main}{sign}" for sign in "-."), f"{self.main}.")

    @cached_property
    def kubeconfig(self) -> SecretKey | ConfigMap | None:
        """None: the cluster is its own management cluster."""
        written = self.frame.clusters[self.cluster].kubeconfig
        is_hub = self.frame.environments[self.environment].management == self.cluster
        return None if is_hub or written is None else written.resolved

    @property
    def home(self) -> str:
        return self.kubeconfig.namespace if self.kubeconfig else self.main

    @property
    def impersonated(self) -> str:
        return self.main if self.kubeconfig else self.holder.account

    def settings(self, namespace: str) -> TenantSettings:
        key = self.extra.get(namespace, "")
        if key not in self._settings:
            self._settings[key] = self.holder.settings(self.cluster, key)
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

    def writes(self, value: str) -> bool:
        """Whether the main file writes this for the tenant: nobody else chose it."""
        return value in self.holder.written or value in self._filled

    @cached_property
    def _filled(self) -> frozenset[str]:
        return frozenset(each for text in self.holder.templates for each in _filled_in(text, self.variables))

    def misplaced(self, app: str) -> tuple[str, ...]:
        """Why the main file does not put an app, or the tenant (""), on the cluster and into the environment."""
        if app not in self._misplaced:
            self._misplaced[app] = tuple(self._misplacement(app))
        return self._misplaced[app]

    def _misplacement(self, app: str) -> Iterator[str]:
        frame, tenant, cluster, own = self.frame, self.tenant, self.cluster, self.declared
        apps = [app] if app in own.apps else [] if app else list(own.apps)
        of_main = [
            each
            for each in apps
            if (selector := placement.selector_of(frame, tenant, each))
            and placement.matches(selector, cluster, frame.clusters[cluster])
            and not placement.app_barrier(frame, self.environment, tenant, each)
        ]
        if of_main or (app in own.apps and app):
            if not of_main:
                yield "is where the main file does not put its app"
            return
        selector, _ = placement.granted_selector(frame, tenant)
        granted = selector is not None and placement.matches(selector, cluster, frame.clusters[cluster])
        if not granted or (selector and selector.all and placement.is_management(frame, cluster)):
            yield f"is for cluster '{cluster}', which is not granted to it"
        if placement.tenant_barrier(frame, self.environment, tenant):
            yield f"is in environment '{self.environment}', which is not granted to it"


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


def scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from scalars(each)
    else:
        yield value


def _filled_in(text: str, variables: Mapping[str, Any]) -> Iterator[str]:
    try:
        yield str(fill(text, variables, ()))
    except Found:
        return  # one that only an app has
