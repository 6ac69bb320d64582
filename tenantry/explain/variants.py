"""What an app, or a tenant, is in one environment: its values, once for all clusters where they are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.explain.app import placed_values, variable
from tenantry.explain.values import settings_of
from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.flux_shards import flux_shard
from tenantry.fleet.settings import TIMES, settings_layers, variables_of
from tenantry.fleet.template import fill
from tenantry.fleet.trace import Origin, Value, placeholders
from tenantry.messages.errors import Path
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


@dataclass(slots=True)
class Variant:
    """Values that some clusters of an environment have in common.

    values: by path. compared: the same as texts, in which `{cluster}` is not filled in, because every cluster has another name.
    shown: values of texts with placeholders, in which `{tenant}`, `{app}` and `{cluster}` are left.
    variables: of the first cluster, which fill in the placeholders; declared: where those are that the values use.
    """

    values: dict[Path, Value]
    compared: dict[Path, str]
    shown: dict[Path, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    declared: Mapping[str, Origin | None] = field(default_factory=dict)


def app_variants(fleet: Fleet, plan: Plan, placed: Iterable[PlannedApp], specs: Mapping[Any, Any]) -> list[Variant]:
    """The variants of one app in an environment. Args: placed: on each of its clusters. specs: of planned objects."""
    found: dict[tuple[Any, ...], list[Variant]] = {}
    for app in placed:
        same_parts = found.setdefault(_parts(fleet, plan, app), [])
        variables: Mapping[str, str] = variables_of(
            fleet, plan.environment, app.cluster, tenant=app.tenant, app=app.name
        )
        known = next((each for each in same_parts if _fills_alike(each, variables)), None)
        if known is None:
            values, variables = placed_values(fleet, plan, app, specs[app.id])
            known = _variant(_by_role(values), variables)
            known.declared = {
                name: variable(fleet, plan.environment, app.cluster, name, variables[name]).origin
                for name in _used(known)
            }
            same_parts.append(known)
        known.clusters.append(app.cluster)
    return [each for variants in found.values() for each in variants]


def tenant_variants(fleet: Fleet, plan: Plan, tenant: str, clusters: Iterable[str]) -> list[Variant]:
    """The variants of a tenant's settings. Times are left out: they are settings of the tenant's apps."""
    found: dict[tuple[Any, ...], Variant] = {}
    for cluster in clusters:
        key = tuple(each.path for each in settings_layers(fleet, tenant, plan.environment, cluster))
        if key not in found:
            values = settings_of(fleet, tenant, plan.environment, cluster)
            found[key] = _variant((each.path, each) for each in values if each.path[0] not in TIMES)
        found[key].clusters.append(cluster)
    return list(found.values())


def _parts(fleet: Fleet, plan: Plan, app: PlannedApp) -> tuple[Any, ...]:
    """The parts of the file that speak for the app on its cluster: equal where only placeholders can make a difference."""
    layers = list(app_layers(fleet, app.at, plan.environment, app.cluster))
    if app.tenant:
        layers += settings_layers(fleet, app.tenant, plan.environment, app.cluster)
    shard = flux_shard(fleet, plan.environment, app.tenant, app.cluster)
    return (*(each.path for each in layers), shard and (shard.name, shard.at))


def _fills_alike(variant: Variant, variables: Mapping[str, str]) -> bool:
    return all(variant.variables[name] == variables.get(name) for name in _used(variant) - {"cluster"})


def _used(variant: Variant) -> set[str]:
    return {name for each in variant.values.values() for name in placeholders(each.written)}


def _by_role(values: Iterable[Value]) -> Iterator[tuple[Path, Value]]:
    """Values by paths that are the same whatever a tenant calls its source, and whether an app is a chart or not."""
    for each in values:
        path = each.path
        if path[0] == "sources":
            path = ("source", *path[2:])
        elif len(path) > 1 and path[0] in ("kustomize", "helm") and path[1] in TIMES:
            path = path[1:]
        yield path, each


def _variant(values: Iterable[tuple[Path, Value]], variables: Mapping[str, str] | None = None) -> Variant:
    by_path = dict(values)
    kept = {**(variables or {}), "cluster": "{cluster}"}
    compared = {
        path: repr(fill(each.written, kept, ()) if "cluster" in placeholders(each.written) else each.value)
        for path, each in by_path.items()
    }
    kept |= {"tenant": "{tenant}", "app": "{app}"}
    filled = {path: fill(each.written, kept, ()) for path, each in by_path.items() if placeholders(each.written)}
    return Variant(by_path, compared, filled, variables or {})
