"""What the file comes to on one cluster, as plain data in the keys of the file: the document of an app, a tenant or the platform.

Called by: `placed`, which finds the origin of every value, and `diff`, which compares the documents of two files. So `explain`,
`parity` and `diff` tell the same keys.
Never: leaves out a key. What no function here treats apart is told as it stands in its entry, so a new key is told, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

from tenantry.fleet.apps import MERGED, EffectiveApp, effective_app
from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.namespaces import extra_namespaces, main_namespace
from tenantry.fleet.resolve import resolved
from tenantry.fleet.settings import (
    TIMES,
    TenantSettings,
    namespace_settings,
    platform_settings,
    tenant_settings,
    tenant_variables,
    variables_of,
    variables_of_app,
)
from tenantry.fleet.sources import effective_source, source_place
from tenantry.fleet.template import fill, fill_manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found, Path
from tenantry.messages.placeholders import Variables
from tenantry.model import Model, ObjectsChart, PlacedSettings

ANSWERED = frozenset({"clusters", "environments", "overrides", "rollout", "grants"})
"""Keys that decide where, when and by whom something is set. `explain` answers them with reasons, and `overrides` are levels."""

OF_APPS = ANSWERED | MERGED | {"namespaces", "source", "state"}
_BLOCKS = frozenset({"kustomize", "helm"})
"""What apps take over, and tell."""
OF_TENANTS = (
    ANSWERED
    | _BLOCKS
    | frozenset(PlacedSettings.model_fields)
    | frozenset({"apps", "namespace", "sources", "state", "variables"})
)
OF_PLATFORM = _BLOCKS | {"addons", "chart", "namespace", "sources"}
"""Keys that have a function of their own. All others of the same entry are told as they are written there."""

_FILLED = frozenset({"alerts", "chart", "clusterObjects", "configs", "receivers"})
"""Keys of an entry in which the plan fills placeholders in."""


class Entry(NamedTuple):
    """An entry of the file. said: as it is written; data: filled in; unknown: what names a placeholder that the cluster lacks."""

    said: dict[str, Any]
    data: dict[str, Any]
    unknown: frozenset[tuple[str, str]]


def block_of(app: EffectiveApp) -> dict[str, Any]:
    """What overrides can set of an app: its block, dependencies and metadata."""
    found: dict[str, Any] = {app.kind: app.data}
    if app.depends_on:
        found["dependsOn"] = list(app.depends_on)
    if metadata := app.metadata.model_dump(exclude_none=True):
        found["metadata"] = metadata
    return found


def settings_data(settings: TenantSettings) -> dict[str, Any]:
    """Settings in the form in which the author could have written them."""
    found: dict[str, Any] = _plain(asdict(settings))
    return found


def _plain(value: Any) -> Any:
    """Models as mappings, without keys that are not set."""
    match value:
        case Model():
            return value.model_dump(exclude_none=True, by_alias=True)
        case dict():
            return {key: _plain(part) for key, part in value.items() if part is not None}
        case list():
            return [_plain(part) for part in value]
        case _:
            return value


def entry_of(fleet: Fleet, at: tuple[str, ...], told: Collection[str], variables: Variables | None) -> Entry:
    """The keys of an entry but those that are told apart. variables: None: placeholders are left as they are written."""
    said = {key: value for key, value in fleet.said(*at).items() if key not in told and value not in (None, {}, [])}
    said = merge([Layer(at, said)])
    if variables is None:
        return Entry(said, said, frozenset())
    data = dict(said)
    unknown = set()
    for key in _FILLED & said.keys():
        data[key] = dict(said[key])
        for name, written in said[key].items():
            try:
                fill_in = fill_manifest if key == "clusterObjects" else fill
                data[key][name] = fill_in(written, variables, (*at, key, name))
            except Found:  # nothing on this cluster uses it
                unknown.add((key, name))
    return Entry(said, data, frozenset(unknown))


class Documents:
    """The documents of an environment. They are made when they are asked for, and settings are kept for the apps of a placement."""

    def __init__(self, fleet: Fleet, environment: str) -> None:
        self.fleet, self.environment = fleet, environment
        self._settings: dict[tuple[str, str], TenantSettings] = {}

    def app(self, at: tuple[str, ...], cluster: str) -> dict[str, Any]:
        """An app, or an add-on with its source and namespaces."""
        of_tenant = at[0] == "tenants"
        variables = variables_of_app(self.fleet, at, self.environment, cluster)
        settings = self._settings_of(at[1] if of_tenant else "", cluster)
        app = effective_app(self.fleet, at, self.environment, cluster, variables, settings)
        found = block_of(app)
        found |= entry_of(self.fleet, at, OF_APPS, variables).data
        if not of_tenant:
            found["source"] = self._source(source_place(at, app.block.source), cluster)
            found["namespaces"] = self._owned(at, variables)
        return found

    def source(self, tenant: str, name: str, cluster: str) -> dict[str, Any]:
        """A source of a tenant."""
        return self._source(("tenants", tenant, "sources", name), cluster)

    def _source(self, at: tuple[str, ...], cluster: str) -> dict[str, Any]:
        source = effective_source(self.fleet, at, self.environment, cluster)
        return source.model_dump(exclude_none=True, exclude={"overrides"})

    def _owned(self, at: tuple[str, ...], variables: Variables) -> dict[str, Any]:
        """The namespaces of an add-on by their names."""
        found = {}
        for template, written in self.fleet.raw(*at, "namespaces").items():
            name = str(fill(template, variables, at))
            objects = _objects(mapping_at(written, "objects"), {**variables, "namespace": name}, at)
            found[name] = {**(written or {}), **({"objects": objects} if objects else {})}
        return found

    def tenant(self, tenant: str, cluster: str) -> dict[str, Any]:
        """A tenant on a cluster: its main namespace, its settings, and what its entry alone sets."""
        namespace = main_namespace(self.fleet, self.environment, tenant)
        variables = variables_of(self.fleet, self.environment, cluster, tenant=tenant) | {"namespace": namespace}
        own = entry_of(self.fleet, ("tenants", tenant), OF_TENANTS | {"namespaces"}, variables).data
        given = tenant_variables(self.fleet, tenant)
        settings = self._with_objects(self._settings_of(tenant, cluster), variables)
        return {"namespace": namespace, **settings, **({"variables": given} if given else {}), **own}

    def namespace(self, tenant: str, name: str, cluster: str) -> dict[str, Any]:
        """Another namespace of a tenant, by the name that it has in the environment."""
        key = self.key_of(tenant, name)
        variables = variables_of(self.fleet, self.environment, cluster, tenant=tenant) | {"namespace": name}
        settings = namespace_settings(self.fleet, tenant, self.environment, cluster, key)
        said = self.fleet.raw("tenants", tenant, "namespaces", key)
        own = {key: value for key, value in said.items() if key not in ("name", "state")}
        found = self._with_objects(settings, variables)
        return {key: value for key, value in (own | found).items() if key not in (*TIMES, "dependsOn")}

    def key_of(self, tenant: str, namespace: str) -> str:
        """The key of another namespace of a tenant."""
        names = extra_namespaces(self.fleet, self.environment, tenant)
        return next(key for key, name in names.items() if name == namespace)

    def handed_down(self, tenant: str, cluster: str) -> dict[str, Any]:
        """The times that a tenant's apps take over from it, or with the tenant "" add-ons from the platform."""
        settings = self._settings_of(tenant, cluster)
        return {time: getattr(settings, time) for time in TIMES}

    def cluster(self, cluster: str) -> dict[str, Any]:
        """Which shard of Flux reaches it, how, and as whom the platform acts there."""
        declared = self.fleet.clusters[cluster]
        kubeconfig = declared.kubeconfig
        return {
            **({"shard": declared.shard} if declared.shard else {}),
            **({"kubeconfig": kubeconfig.model_dump(exclude_none=True)} if kubeconfig else {}),
            "platformServiceAccount": platform_account(self.fleet, self.environment, cluster),
        }

    def platform(self, cluster: str) -> dict[str, Any]:
        """The platform on a cluster, beside its add-ons. Where nothing needs the chart, it may not fit."""
        variables = variables_of(self.fleet, self.environment, cluster)
        times = {time: getattr(self._settings_of("", cluster), time) for time in TIMES}
        entry = entry_of(self.fleet, ("platform",), OF_PLATFORM, variables).data
        found = {"namespace": self.fleet.document.platform.namespace, **times, **entry}
        with suppress(Found):
            chart = resolved(self.fleet, ("platform", "chart"), ObjectsChart, variables)
            found["chart"] = chart.model_dump(exclude_none=True)
        return found

    def _settings_of(self, tenant: str, cluster: str) -> TenantSettings:
        """The settings of a tenant, or with the tenant "" those that add-ons share."""
        if (tenant, cluster) not in self._settings:
            self._settings[tenant, cluster] = (
                tenant_settings(self.fleet, tenant, self.environment, cluster)
                if tenant
                else platform_settings(self.fleet)
            )
        return self._settings[tenant, cluster]

    def _with_objects(self, settings: TenantSettings, variables: Variables) -> dict[str, Any]:
        """Settings whose objects are filled in for a namespace."""
        found = settings_data(settings)
        return found | {"objects": _objects(found["objects"], variables, ("objects",))}


def _objects(written: Mapping[str, Any], variables: Variables, at: Path) -> dict[str, Any]:
    """Manifests by name, filled in."""
    return {name: fill_manifest(each, variables, (*at, name)) for name, each in written.items()}
