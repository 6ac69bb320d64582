"""What the file comes to on one cluster: every value of an app, add-on, tenant, platform, cluster or environment, with its place.

Called by: `facts`, which prints these values or compares them. The plan makes objects from the same settings, which
`fleet.settings` and `fleet.apps` merge.
Never: leaves out a key. What no function here treats apart stands as in its entry, so a new key needs no line here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from tenantry.fleet.apps import (
    CHART,
    MERGED,
    EffectiveApp,
    effective_app,
    effective_source,
    source_layers,
    source_place,
)
from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.fleet.merge import Layer, Traced, Value, merge, origin_at, trace
from tenantry.fleet.settings import (
    TIMES,
    TenantSettings,
    extra_namespaces,
    main_namespace,
    namespace_template,
    platform_layers,
    platform_settings,
    resolved_once,
    settings_alike,
    settings_layers,
    state_override,
    tenant_settings,
    variables_of,
    variables_of_app,
)
from tenantry.messages.data import leaves, without
from tenantry.messages.errors import InvalidPart, Path
from tenantry.messages.placeholders import Variables, fill, fill_manifest
from tenantry.model import Model, ObjectsChart, PlacedSettings

_BLOCKS = frozenset({"kustomize", "helm"})
_OF_APPS = MERGED | {"namespace", "source", "state"}
_OF_TENANTS = _BLOCKS.union(
    PlacedSettings.model_fields, {"apps", "grants", "namespace", "namespaces", "sources", "state", "variables"}
)
_OF_PLATFORM = _BLOCKS | {"addons", "namespace", "sources"}
_OF_CLUSTERS = frozenset({"kubeconfig", "platformServiceAccount", "shard", "state"})
"""Keys that have a function of their own here, or that apps take over."""
_FILLED = frozenset({"alerts", "chart", "clusterObjects", "configs", "receivers"})
"""Keys of an entry in which the plan fills placeholders in."""

_STATES = ("decommissioned", "offboarding", "removing", "paused", "active")
"""From the state that prevails over all others."""


# --- apps and add-ons -----------------------------------------------------------------------------------------------


def placed_app(fleet: Fleet, environment: str, at: tuple[str, ...], cluster: str) -> tuple[Value, ...]:
    """The values of an app or add-on on one cluster, with those of its source. Args: at: its path in the document."""
    tenant = at[1] if at[0] == "tenants" else ""
    variables = variables_of_app(fleet, at, environment, cluster)
    settings = tenant_settings(fleet, tenant, environment, cluster) if tenant else platform_settings(fleet)
    layers = settings_layers(fleet, tenant, environment, cluster) if tenant else platform_layers(fleet)
    app = effective_app(fleet, at, environment, cluster, variables, settings)
    values = fleet.once(
        ("block values",),
        (app.data, app.layers, app.metadata, settings),
        lambda: _block_values(fleet, app, fleet.once(("times",), (settings,), lambda: _times(fleet, layers, settings))),
    )
    return (
        namespace_of(fleet, environment, tenant) if tenant else _addon_namespace(fleet, at),
        *values,
        *_source_values(fleet, environment, at, cluster, app),
        *_shard(fleet, cluster),
        *_state(fleet, at, tenant, cluster),
        *_entry(fleet, at, _OF_APPS, variables),
    )


def _block_values(fleet: Fleet, app: EffectiveApp, times: Collection[Value]) -> tuple[Value, ...]:
    """The app's block and dependencies. A time that it does not set itself has the place where its tenant or the platform does."""
    traced = fleet.once(("traced",), (app.layers,), lambda: Traced(fleet.source, app.layers))
    values = {value.path: value for value in traced.values(_block_of(app))}
    written = app.block.model_dump(exclude_none=True)
    for time in times:
        path: Path = (app.kind, *time.path)
        if path not in values:
            if app.retried:
                values[time.path] = time
        elif time.path[0] not in written:
            values[path] = replace(time, path=path, removed=values[path].removed or time.removed)
    groups = list(dict.fromkeys(path[0] for path in values))
    return tuple(sorted(values.values(), key=lambda value: groups.index(value.path[0])))


def _source_values(
    fleet: Fleet, environment: str, at: tuple[str, ...], cluster: str, app: EffectiveApp
) -> tuple[Value, ...]:
    """The source of an app is its tenant's; an add-on has its own, or one of the platform's."""
    # The plan refuses an app of a tenant without a source.
    place = source_place(at, app.block.source)
    part = ("sources", place[-1]) if at[0] == "tenants" else ("source",)
    source = effective_source(fleet, place, environment, cluster)

    def values() -> tuple[Value, ...]:
        return _traced(fleet, source_layers(fleet, place, environment, cluster), source, *part)

    return fleet.once(("source values", part), (source,), values)


# --- tenants --------------------------------------------------------------------------------------------------------


def placed_tenant(fleet: Fleet, environment: str, tenant: str, cluster: str | None) -> tuple[Value, ...]:
    """What several levels can set of a tenant: its settings and its state.

    Args: cluster: None for what all clusters of the environment have in common.
    """
    return (
        *settings_of(fleet, tenant, environment, cluster),
        *_entry(fleet, ("tenants", tenant), fleet.raw("tenants", tenant).keys() - {"variables"}, None),
        *_state(fleet, ("tenants", tenant), tenant, cluster, of_cluster=False),
    )


def tenant_entry(fleet: Fleet, environment: str, tenant: str, cluster: str | None) -> tuple[Value, ...]:
    """What the tenant's entry alone sets. Args: cluster: None for texts as they are written: clusters fill them differently."""
    variables = cluster and {
        **variables_of(fleet, environment, cluster, tenant=tenant),
        "namespace": main_namespace(fleet, environment, tenant),
    }
    values = _entry(fleet, ("tenants", tenant), _OF_TENANTS, variables or None)
    return (*values, *_extra_namespaces(fleet, environment, tenant))


def settings_of(fleet: Fleet, tenant: str, environment: str, cluster: str | None) -> tuple[Value, ...]:
    """A tenant's settings on a cluster, or without one those that all clusters of the environment have in common.

    Texts in `objects` are as they are written: each namespace fills them in.
    """

    def values() -> tuple[Value, ...]:
        effective = asdict(tenant_settings(fleet, tenant, environment, cluster))
        traced = _traced(fleet, settings_layers(fleet, tenant, environment, cluster), effective)
        return tuple(value for value in traced if value.origin or value.removed or value.value not in ({}, []))

    return fleet.once(("values of settings", *settings_alike(fleet, tenant, environment, cluster)), (), values)


def _extra_namespaces(fleet: Fleet, environment: str, tenant: str) -> Iterator[Value]:
    """The tenant's other namespaces: the name of each, and what its entry says beside the tenant's settings."""
    for key, name in extra_namespaces(fleet, environment, tenant).items():
        place = ("tenants", tenant, "namespaces", key)
        written = fleet.raw(*place)
        for value in trace(fleet.source, [Layer(place, written)], {**written, "name": name}):
            if value.path == ("name",):
                template = fleet.document.tenants[tenant].namespaces[key].name
                value = replace(value, written=template.replace("{key}", key))
            elif value.value is None:
                value = replace(value, removed=origin_at(fleet.source, (*place, *value.path)))
            yield value.under("namespaces", key)


def namespace_of(fleet: Fleet, environment: str, tenant: str) -> Value:
    """The tenant's main namespace in an environment, from its own template or the environment's."""
    written, at = namespace_template(fleet, environment, tenant)
    return _single(fleet, at, main_namespace(fleet, environment, tenant), written)


# --- the platform ---------------------------------------------------------------------------------------------------


def placed_platform(fleet: Fleet, environment: str, cluster: str, *, installs: bool) -> tuple[Value, ...]:
    """What the platform has on a cluster. Args: installs: whether its chart installs a tenant's baseline there."""
    kubeconfig = ("clusters", cluster, "kubeconfig")
    return (
        _single(fleet, ("clusters", cluster, "platformServiceAccount"), platform_account(fleet, environment, cluster)),
        *_traced(fleet, [Layer(kubeconfig, fleet.raw(*kubeconfig))], fleet.clusters[cluster].kubeconfig, "kubeconfig"),
        *_shard(fleet, cluster),
        *_state(fleet, (), "", cluster),
        *(_chart_values(fleet, environment, cluster) if installs else ()),
    )


def platform_entry(fleet: Fleet, environment: str, cluster: str) -> tuple[Value, ...]:
    """What the platform's entry sets for all clusters. Args: cluster: "" where there is none: texts are as they are written."""
    return _entry(fleet, ("platform",), _OF_PLATFORM, variables_of(fleet, environment, cluster) if cluster else None)


def platform_times(fleet: Fleet) -> tuple[Value, ...]:
    return _times(fleet, platform_layers(fleet), platform_settings(fleet))


def _addon_namespace(fleet: Fleet, at: tuple[str, ...]) -> Value:
    """Where the Flux objects of an add-on are on a management cluster, and Helm's release record on every cluster."""
    own = fleet.document.platform.addons[at[-1]].namespace
    return _single(fleet, (*at, "namespace"), own) if own else platform_namespace(fleet)


def platform_namespace(fleet: Fleet) -> Value:
    """Where the platform's objects are on every cluster, including Helm's release records."""
    return _single(fleet, ("platform", "namespace"), fleet.document.platform.namespace)


def _chart_values(fleet: Fleet, environment: str, cluster: str) -> tuple[Value, ...]:
    """The source of the objects chart."""
    layers = source_layers(fleet, CHART, environment, cluster)
    chart = resolved_once(fleet, layers, ObjectsChart, variables_of(fleet, environment, cluster))
    return _traced(fleet, layers, chart, "chart")


# --- clusters and environments --------------------------------------------------------------------------------------


def cluster_entry(fleet: Fleet, cluster: str) -> tuple[Value, ...]:
    """What the cluster's entry sets, beside what `placed_platform` has: environments, labels, variables."""
    return _entry(fleet, ("clusters", cluster), _OF_CLUSTERS, None)


def environment_values(fleet: Fleet, environment: str) -> tuple[Value, ...]:
    """Every key of an environment that the file sets, with those of the environments that it extends."""
    at = ("environments", environment)
    data = fleet.environments[environment].model_dump(exclude_none=True, mode="json")
    keys = dict.fromkeys((*fleet.own(environment), *fleet.raw(*at)))
    return tuple(
        Value(path, value, origin_at(fleet.source, (*at, *path)))
        for key in keys
        if key in data
        for path, value in leaves(data[key], (key,))
    )


# --- what all of them have ------------------------------------------------------------------------------------------


def _single(fleet: Fleet, at: Path, value: Any, written: str | None = None) -> Value:
    """The value of one key, which is a default of the program where the file does not have the key."""
    declared = at[-1] in fleet.raw(*at[:-1])
    return Value(at[-1:], value, origin_at(fleet.source, at) if declared else None, written)


def _traced(fleet: Fleet, layers: Sequence[Layer], effective: Any, *parent: str) -> tuple[Value, ...]:
    """What layers became, below some keys. Args: effective: a model, a mapping, or None if the file does not have it."""
    values = trace(fleet.source, layers, _plain(effective)) if effective else ()
    return tuple(value.under(*parent) for value in values)


def _times(fleet: Fleet, layers: Sequence[Layer], settings: TenantSettings) -> tuple[Value, ...]:
    """The times that apps take over. Args: layers: of the settings."""
    of_times = [Layer(layer.path, {time: layer.data[time] for time in TIMES if time in layer.data}) for layer in layers]
    return trace(fleet.source, of_times, {time: getattr(settings, time) for time in TIMES})


def _shard(fleet: Fleet, cluster: str) -> Iterator[Value]:
    """The shard of Flux's controllers that is for the cluster, if there is one."""
    if shard := fleet.clusters[cluster].shard:
        yield _single(fleet, ("clusters", cluster, "shard"), shard)


def _state(
    fleet: Fleet, at: tuple[str, ...], tenant: str, cluster: str | None, *, of_cluster: bool = True
) -> tuple[Value, ...]:
    """The state that prevails, if one is written: of the part at a path, of its tenant, there, or of the cluster."""
    places: list[Path] = [at, ("tenants", tenant)] if tenant else [at]
    if cluster:
        index = state_override(fleet, tenant, cluster) if tenant else None
        places += [] if index is None else [("tenants", tenant, "overrides", index)]
        places += [("clusters", cluster)] if of_cluster else []
    declared_states = [
        (fleet.valid(*place)["state"], place) for place in places if place and "state" in fleet.valid(*place)
    ]
    if not declared_states:
        return ()
    state, place = min(declared_states, key=lambda declared: _STATES.index(declared[0]))
    return (Value(("state",), state, origin_at(fleet.source, (*place, "state"))),)


def _entry(fleet: Fleet, at: tuple[str, ...], apart: Collection[str], variables: Variables | None) -> tuple[Value, ...]:
    """The keys of an entry but some, `namespaces` last. variables: None: placeholders are left as they are written."""

    def entry() -> tuple[dict[str, Any], Traced]:
        every = without(fleet.valid(*at), [("overrides",)]).items()  # levels of other keys, and no values of their own
        written = merge([Layer(at, {key: value for key, value in every if key not in apart and value not in ({}, [])})])
        return written, Traced(fleet.source, [Layer(at, written)])

    written, traced = fleet.once(("entry", at, frozenset(apart)), (), entry)
    if not written:
        return ()
    data, unknown = dict(written), set[Path]()
    for key in _FILLED & written.keys() if variables is not None else ():
        data[key] = dict(written[key])
        for name, text in written[key].items():
            fill_in = fill_manifest if key == "clusterObjects" else fill
            try:
                data[key][name] = fill_in(text, variables or {}, (*at, key, name))
            except InvalidPart:  # nothing on this cluster uses it
                unknown.add((key, name))
    data |= {"namespaces": data.pop("namespaces")} if "namespaces" in data else {}
    return tuple(
        replace(value, written=None) if variables is None or value.path[:2] in unknown else value
        for value in traced.values(data)
    )


def _block_of(app: EffectiveApp) -> dict[str, Any]:
    """What overrides can set of an app: its block, dependencies and metadata."""
    block: dict[str, Any] = {app.kind: app.data}
    if app.depends_on:
        block["dependsOn"] = list(app.depends_on)
    if metadata := app.metadata.model_dump(exclude_none=True):
        block["metadata"] = metadata
    return block


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
