"""What the file comes to on one cluster: every value of an app, add-on, tenant, platform, cluster or environment, with its place.

Called by: `facts`, which prints these values or compares them. The plan makes objects from the same settings, which
`fleet.settings` and `fleet.apps` merge.
Never: leaves out a key. What no function here treats apart stands as in its entry, so a new key needs no line here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
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
from tenantry.fleet.merge import Layer, Value, merge, origin_at, trace
from tenantry.fleet.resolve import resolved_once
from tenantry.fleet.settings import (
    TIMES,
    TenantSettings,
    extra_namespaces,
    main_namespace,
    namespace_template,
    platform_layers,
    platform_settings,
    settings_layers,
    state_override,
    tenant_settings,
    tenant_variables,
    variables_of,
    variables_of_app,
)
from tenantry.fleet.template import fill, fill_manifest
from tenantry.messages.data import leaves
from tenantry.messages.errors import InvalidPart, Path
from tenantry.messages.placeholders import Variables
from tenantry.model import Model, ObjectsChart, PlacedSettings

LEVELS = frozenset({"overrides"})
"""Keys that are levels of other keys, and no values of their own."""
_BLOCKS = frozenset({"kustomize", "helm"})
_OF_APPS = LEVELS | MERGED | {"namespace", "namespaces", "source", "state"}
_OF_TENANTS = (
    LEVELS
    | _BLOCKS
    | frozenset(PlacedSettings.model_fields)
    | {"apps", "grants", "namespace", "namespaces", "sources", "state", "variables"}
)
_OF_PLATFORM = LEVELS | _BLOCKS | {"addons", "chart", "namespace", "sources"}
_OF_CLUSTERS = LEVELS | {"kubeconfig", "platformServiceAccount", "shard", "state"}
"""Keys that have a function of their own here, or that apps take over."""
_FILLED = frozenset({"alerts", "chart", "clusterObjects", "configs", "receivers"})
"""Keys of an entry in which the plan fills placeholders in."""

_STATES = ("decommissioned", "offboarding", "removing", "paused", "active")
"""From the state that prevails over all others."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The values of an app or add-on on one cluster, and the variables that its placeholders can name."""

    values: tuple[Value, ...]
    variables: Variables


# --- apps and add-ons -----------------------------------------------------------------------------------------------


def placed_app(fleet: Fleet, environment: str, at: tuple[str, ...], cluster: str) -> Placed:
    """An app or add-on at a path of the document, with its source."""
    tenant = at[1] if at[0] == "tenants" else ""
    variables = variables_of_app(fleet, at, environment, cluster)
    settings = tenant_settings(fleet, tenant, environment, cluster) if tenant else platform_settings(fleet)
    layers = settings_layers(fleet, tenant, environment, cluster) if tenant else platform_layers(fleet)
    app = effective_app(fleet, at, environment, cluster, variables, settings)
    values = (
        namespace_of(fleet, environment, tenant) if tenant else _addon_namespace(fleet, at),
        *fleet.once(
            ("block values",),
            (app.data, app.layers, app.metadata, settings),
            lambda: _block_values(fleet, app, _times(fleet, layers, settings)),
        ),
        *_source_values(fleet, environment, at, cluster, app),
        *_shard(fleet, cluster),
        *_state(fleet, at, tenant, cluster),
        *_entry(fleet, at, _OF_APPS, variables),
        *_owned_namespaces(fleet, at),
    )
    return Placed(values, variables)


def _block_values(fleet: Fleet, app: EffectiveApp, times: Collection[Value]) -> tuple[Value, ...]:
    """The app's block and dependencies. A time that it does not set itself has the place where its tenant or the platform does."""
    values = {value.path: value for value in trace(fleet.source, app.layers, _block_of(app))}
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
        layers = source_layers(fleet, place, environment, cluster)
        traced = trace(fleet.source, layers, source.model_dump(exclude_none=True))
        return tuple(value.under(*part) for value in traced)

    return fleet.once(("source values", part), (source,), values)


def _owned_namespaces(fleet: Fleet, at: tuple[str, ...]) -> Iterator[Value]:
    """The namespaces that an add-on owns, as written. One without keys is a value of its own."""
    for name, written in fleet.raw(*at, "namespaces").items() if at[0] == "platform" else ():
        place = (*at, "namespaces", name)
        values = trace(fleet.source, [Layer(place, written)], merge([Layer(place, written)])) if written else ()
        own = [replace(value, written=None) for value in values] or [Value((), {}, origin_at(fleet.source, place))]
        yield from (value.under("namespaces", name) for value in own)


# --- tenants --------------------------------------------------------------------------------------------------------


def placed_tenant(fleet: Fleet, environment: str, tenant: str, cluster: str | None) -> tuple[Value, ...]:
    """What several levels can set of a tenant: its settings and its state.

    Args: cluster: None for what all clusters of the environment have in common.
    """
    return (
        *settings_of(fleet, tenant, environment, cluster),
        *_variables(fleet, tenant),
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


def _variables(fleet: Fleet, tenant: str) -> Iterator[Value]:
    layer = Layer(("tenants", tenant, "variables"), fleet.raw("tenants", tenant, "variables"))
    values = trace(fleet.source, [layer], tenant_variables(fleet, tenant)) if layer.data else ()
    yield from (replace(value, written=None).under("variables") for value in values)


def settings_of(fleet: Fleet, tenant: str, environment: str, cluster: str | None) -> tuple[Value, ...]:
    """A tenant's settings on a cluster, or without one those that all clusters of the environment have in common.

    Texts in `objects` are as they are written: each namespace fills them in.
    """
    effective = _plain(asdict(tenant_settings(fleet, tenant, environment, cluster)))
    values = trace(fleet.source, settings_layers(fleet, tenant, environment, cluster), effective)
    return tuple(value for value in values if value.origin or value.removed or value.value not in ({}, []))


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
    declared = "namespace" in fleet.raw(*map(str, at[:2]))
    name = main_namespace(fleet, environment, tenant)
    return Value(("namespace",), name, origin_at(fleet.source, at) if declared else None, written)


# --- the platform ---------------------------------------------------------------------------------------------------


def placed_platform(fleet: Fleet, environment: str, cluster: str, *, installs: bool) -> tuple[Value, ...]:
    """What the platform has on a cluster. Args: installs: whether its chart installs a tenant's baseline there."""
    key = "platformServiceAccount"
    at = origin_at(fleet.source, ("clusters", cluster, key)) if key in fleet.raw("clusters", cluster) else None
    return (
        Value((key,), platform_account(fleet, environment, cluster), at),
        *_kubeconfig(fleet, cluster),
        *_shard(fleet, cluster),
        *_state(fleet, (), "", cluster),
        *(_chart_values(fleet, environment, cluster) if installs else ()),
    )


def _kubeconfig(fleet: Fleet, cluster: str) -> Iterator[Value]:
    """How Flux reaches a remote cluster."""
    if declared := fleet.clusters[cluster].kubeconfig:
        place = ("clusters", cluster, "kubeconfig")
        data = declared.model_dump(exclude_none=True)
        yield from (value.under("kubeconfig") for value in trace(fleet.source, [Layer(place, fleet.raw(*place))], data))


def platform_entry(fleet: Fleet, environment: str = "", cluster: str = "") -> tuple[Value, ...]:
    """What the platform's entry sets for all clusters. Args: cluster: "" for texts as they are written, without the chart's."""
    if cluster:
        return _entry(fleet, ("platform",), _OF_PLATFORM - {"chart"}, variables_of(fleet, environment, cluster))
    return _entry(fleet, ("platform",), _OF_PLATFORM, None)


def platform_times(fleet: Fleet) -> tuple[Value, ...]:
    return _times(fleet, platform_layers(fleet), platform_settings(fleet))


def _addon_namespace(fleet: Fleet, at: tuple[str, ...]) -> Value:
    """Where the Flux objects of an add-on are on a management cluster, and Helm's release record on every cluster."""
    if own := fleet.document.platform.addons[at[-1]].namespace:
        return Value(("namespace",), own, origin_at(fleet.source, (*at, "namespace")))
    return platform_namespace(fleet)


def platform_namespace(fleet: Fleet) -> Value:
    """Where the platform's objects are on every cluster, including Helm's release records."""
    declared = "namespace" in fleet.raw("platform")
    at = origin_at(fleet.source, ("platform", "namespace")) if declared else None
    return Value(("namespace",), fleet.document.platform.namespace, at)


def _chart_values(fleet: Fleet, environment: str, cluster: str) -> tuple[Value, ...]:
    """The source of the objects chart."""
    layers = source_layers(fleet, CHART, environment, cluster)
    chart = resolved_once(fleet, layers, ObjectsChart, variables_of(fleet, environment, cluster))
    values = trace(fleet.source, layers, chart.model_dump(exclude_none=True))
    return tuple(value.under("chart") for value in values)


# --- clusters and environments --------------------------------------------------------------------------------------


def cluster_entry(fleet: Fleet, cluster: str) -> tuple[Value, ...]:
    """What the cluster's entry sets, beside what `placed_platform` has: environments, labels, variables."""
    return _entry(fleet, ("clusters", cluster), _OF_CLUSTERS, None)


def environment_values(fleet: Fleet, environment: str) -> tuple[Value, ...]:
    """Every key of an environment that the file sets, with those of the environments that it extends."""
    keys = dict.fromkeys(
        key for name in reversed(fleet.lineage(environment)) for key in fleet.raw("environments", name)
    )
    data = fleet.environments[environment].model_dump(exclude_none=True, mode="json")
    return tuple(
        Value(path, value, origin_at(fleet.source, (*fleet.declared_at(environment, str(path[0])), *path[1:])))
        for key in keys
        if key in data
        for path, value in leaves(data[key], (key,))
    )


# --- what all of them have ------------------------------------------------------------------------------------------


def _times(fleet: Fleet, layers: Sequence[Layer], settings: TenantSettings) -> tuple[Value, ...]:
    """The times that apps take over. Args: layers: of the settings."""
    of_times = [Layer(layer.path, {time: layer.data[time] for time in TIMES if time in layer.data}) for layer in layers]
    return trace(fleet.source, of_times, {time: getattr(settings, time) for time in TIMES})


def _shard(fleet: Fleet, cluster: str) -> Iterator[Value]:
    """The shard of Flux's controllers that is for the cluster, if there is one."""
    if shard := fleet.clusters[cluster].shard:
        yield Value(("shard",), shard, origin_at(fleet.source, ("clusters", cluster, "shard")))


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
    """The keys of an entry but some. variables: None: placeholders are left as they are written."""
    written = {
        key: value for key, value in fleet.valid(*at).items() if key not in apart and value not in (None, {}, [])
    }
    if not written:
        return ()
    written = merge([Layer(at, written)])
    data, unknown = dict(written), set[Path]()
    for key in _FILLED & written.keys():
        data[key] = dict(written[key])
        for name, text in written[key].items() if variables is not None else ():
            fill_in = fill_manifest if key == "clusterObjects" else fill
            try:
                data[key][name] = fill_in(text, variables or {}, (*at, key, name))
            except InvalidPart:  # nothing on this cluster uses it
                unknown.add((key, name))
    values = trace(fleet.source, [Layer(at, written)], data)
    return tuple(
        replace(value, written=None) if variables is None or value.path[:2] in unknown else value for value in values
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
