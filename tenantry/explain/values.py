"""Values that several answers show, each with its origin."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.flux_shards import flux_shard
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.namespaces import namespace_template
from tenantry.fleet.settings import TIMES, platform_layers, platform_settings, settings_layers, tenant_settings
from tenantry.fleet.trace import Value, origin_at, trace
from tenantry.model import Model
from tenantry.model.network import Network
from tenantry.plan.plan import Plan


def settings_of(fleet: Fleet, tenant: str, environment: str, cluster: str | None) -> tuple[Value, ...]:
    """A tenant's settings on a cluster, or without one those that all clusters of the environment have in common."""
    effective = _plain(asdict(tenant_settings(fleet, tenant, environment, cluster)))
    values = trace(fleet.source, settings_layers(fleet, tenant, environment, cluster), effective)
    return tuple(each for each in values if each.origin or each.removed or each.value not in ({}, []))


def _plain(value: Any) -> Any:
    """Settings as the author could have written them: models as mappings, without keys that are not set."""
    match value:
        case Network(policies=None):
            return value.base or "isolated"
        case Model():
            return value.model_dump(exclude_none=True, by_alias=True)
        case dict():
            return {key: _plain(part) for key, part in value.items() if part is not None}
        case list():
            return [_plain(part) for part in value]
        case _:
            return value


def namespace_of(fleet: Fleet, plan: Plan, tenant: str, cluster: str) -> Value:
    """The tenant's namespace on a cluster, from its own template or the environment's."""
    name = next(each.namespace for each in plan.placements if (each.tenant, each.cluster) == (tenant, cluster))
    written, at = namespace_template(fleet, plan.environment, tenant)
    declared = "namespace" in fleet.raw(*map(str, at[:2]))
    return Value(("namespace",), name, origin_at(fleet.source, at) if declared else None, written)


def shard_of(fleet: Fleet, environment: str, tenant: str, cluster: str) -> tuple[Value, ...]:
    """The shard of Flux's controllers, if there is one, as for `flux_shard`."""
    found = flux_shard(fleet, environment, tenant, cluster)
    return (Value(("shard",), found.name, origin_at(fleet.source, found.at), found.written),) if found else ()


def entries_at(fleet: Fleet, *at: str) -> tuple[Value, ...]:
    """The settings of all alerts or receivers at a path, as written: placeholders differ between clusters."""
    layers = {name: Layer((*at, name), fleet.raw(*at, name)) for name in fleet.raw(*at)}
    found = ((name, each) for name, layer in layers.items() for each in trace(fleet.source, [layer], merge([layer])))
    return tuple(replace(each, written=None).under(name) for name, each in found)


def platform_times(fleet: Fleet) -> tuple[Value, ...]:
    settings = platform_settings(fleet)
    return trace(fleet.source, platform_layers(fleet), {time: getattr(settings, time) for time in TIMES})


def platform_namespace(fleet: Fleet) -> Value:
    """Where the platform's objects are on every cluster, including Helm's release records."""
    declared = "namespace" in fleet.raw("platform")
    at = origin_at(fleet.source, ("platform", "namespace")) if declared else None
    return Value(("namespace",), fleet.document.platform.namespace, at)
