"""An app or add-on: where it is placed and why, and its values on each cluster.

The plan says where an app is and what its object is called. The file says which level sets each value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tenantry.explain.declared import known, known_cluster
from tenantry.explain.order import Keeper, keeper
from tenantry.explain.rollout import AppRollout, rollout_of
from tenantry.explain.values import (
    entries_at,
    namespace_of,
    platform_namespace,
    platform_times,
    settings_of,
    shard_of,
)
from tenantry.fleet.apps import EffectiveApp, effective_app
from tenantry.fleet.choice import Choice, choice_of_addon, choice_of_app
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer
from tenantry.fleet.resolve import resolved
from tenantry.fleet.settings import TIMES, variable_at, variables_of
from tenantry.fleet.trace import Origin, Value, origin_at, placeholders, trace
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.model import Helm, Kustomize, Source
from tenantry.plan.after import After
from tenantry.plan.images import PlannedImage
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_ACTIONS = ("install", "upgrade")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedApp:
    """An app on one cluster.

    object: the Flux object that stands for it on the management cluster. order: what it waits for, and who keeps that
    order. images: those whose tags are followed on this cluster. placeholders: the variables that its values use.
    """

    cluster: str
    object: str
    values: tuple[Value, ...]
    order: Mapping[str, Keeper]
    images: tuple[PlannedImage, ...]
    placeholders: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedApp:
    """An app of a tenant, or an add-on, whose tenant is "", in all of an environment.

    rollout: None if the environment has none. gate: the one to the environment before, and where it is written.
    """

    tenant: str
    app: str
    environment: str
    choice: Choice
    placed: tuple[PlacedApp, ...]
    rollout: AppRollout | None = None
    gate: tuple[After, Origin] | None = None


def explain_app(fleet: Fleet, plan: Plan, tenant: str, app: str, cluster: str | None = None) -> ExplainedApp:
    """An app on every cluster it is placed on, or on the one named. Raises: Refused: one of them is not declared."""
    known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    known("app", app, fleet.document.tenants[tenant].apps, f"tenant '{tenant}'")
    known_cluster(fleet, plan.environment, cluster)
    return _explained(fleet, plan, tenant, app, choice_of_app(fleet, plan.environment, tenant, app, cluster))


def explain_addon(fleet: Fleet, plan: Plan, addon: str, cluster: str | None = None) -> ExplainedApp:
    """An add-on, in the form of `explain_app`. Raises: Refused: the add-on or the cluster is not declared."""
    known("add-on", addon, fleet.document.platform.addons, "the platform")
    known_cluster(fleet, plan.environment, cluster)
    return _explained(fleet, plan, "", addon, choice_of_addon(fleet, plan.environment, addon, cluster))


def _explained(fleet: Fleet, plan: Plan, tenant: str, app: str, choice: Choice) -> ExplainedApp:
    planned = {each.cluster: each for each in plan.apps if (each.tenant, each.name) == (tenant, app)}
    ids = {id for each in planned.values() for id in (each.id, *each.after.values())}
    objects = {each.id: each for each in plan.objects if each.id in ids}
    placed = (_placed(fleet, plan, each, objects) for each in map(planned.__getitem__, choice.clusters))
    at = ("tenants", tenant, "apps", app) if tenant else ("platform", "addons", app)
    return ExplainedApp(
        tenant=tenant,
        app=app,
        environment=plan.environment,
        choice=choice,
        placed=tuple(placed),
        rollout=rollout_of(fleet, plan, planned.values(), at),
        gate=_gate(fleet, plan),
    )


def _gate(fleet: Fleet, plan: Plan) -> tuple[After, Origin] | None:
    return (plan.after, origin_at(fleet.source, ("environments", plan.environment, "after"))) if plan.after else None


def _placed(fleet: Fleet, plan: Plan, app: PlannedApp, objects: Mapping[ObjectId, KubeObject]) -> PlacedApp:
    values, variables = placed_values(fleet, plan, app, objects[app.id].manifest["spec"])
    used = dict.fromkeys(name for value in values for name in placeholders(value.written))
    return PlacedApp(
        cluster=app.cluster,
        object=str(app.id),
        values=values,
        order={name: keeper(app.id.kind, id, objects.get(id)) for name, id in app.after.items()},
        images=app.images,
        placeholders=tuple(variable(fleet, plan.environment, app.cluster, name, variables[name]) for name in used),
    )


def placed_values(
    fleet: Fleet, plan: Plan, app: PlannedApp, spec: Manifest
) -> tuple[tuple[Value, ...], Mapping[str, str]]:
    """The values of an app on its cluster, and the variables that its placeholders can name. spec: of its planned object."""
    shared = variables_of(fleet, plan.environment, app.cluster, **({"tenant": app.tenant} if app.tenant else {}))
    variables = {**shared, "app": app.name}
    effective = effective_app(fleet, app.at, plan.environment, app.cluster, variables)
    values = (
        namespace_of(fleet, plan, app.tenant, app.cluster) if app.tenant else platform_namespace(fleet),
        *_app_values(fleet, effective, _times(fleet, plan.environment, app), spec),
        *_source_values(fleet, app, effective, shared),
        *shard_of(fleet, plan.environment, app.tenant, app.cluster),
        *(() if app.tenant else _namespaces(fleet, app)),
    )
    return values, variables


def _namespaces(fleet: Fleet, app: PlannedApp) -> Iterator[Value]:
    """The namespaces that an add-on owns, as written."""
    for name in fleet.document.platform.addons[app.name].namespaces:
        at = (*app.at, "namespaces", name)
        values = entries_at(fleet, *app.at, "namespaces")
        own = [each for each in values if each.path[0] == name]
        yield from (each.under("namespaces") for each in own or (Value((name,), {}, origin_at(fleet.source, at)),))


def _times(fleet: Fleet, environment: str, app: PlannedApp) -> tuple[Value, ...]:
    if not app.tenant:
        return platform_times(fleet)
    return tuple(each for each in settings_of(fleet, app.tenant, environment, app.cluster) if each.path[0] in TIMES)


def _app_values(fleet: Fleet, app: EffectiveApp, times: tuple[Value, ...], spec: Manifest) -> tuple[Value, ...]:
    """The app's block and dependencies; times it does not set itself are its tenant's, or the platform's."""
    effective: dict[str, Any] = {app.kind: _as_planned(app.block, spec)}
    if app.depends_on:
        effective["dependsOn"] = list(app.depends_on)
    if metadata := app.metadata.model_dump(exclude_none=True):
        effective["metadata"] = metadata
    values = {each.path: each for each in trace(fleet.source, app.layers, effective)}
    for time in times:
        own_key = time.path[0] in type(app.block).model_fields
        if not own_key and not _is_retried(app.block, spec):
            continue
        path = (app.kind, *time.path) if own_key else time.path
        own = values.get(path)
        if own is None or own.value is None:
            values[path] = replace(time, path=path, removed=own.removed if own else time.removed)
    groups = list(dict.fromkeys(path[0] for path in values))
    return tuple(sorted(values.values(), key=lambda each: groups.index(each.path[0])))


def _as_planned(block: Kustomize | Helm, spec: Manifest) -> dict[str, Any]:
    """The block, with the strategies that the plan chose for install and upgrade."""
    data = block.model_dump(exclude_none=True)
    if isinstance(block, Helm):
        for action in _ACTIONS:
            data[action] = {"strategy": {"name": spec[action]["strategy"]["name"]}, **data.get(action, {})}
    return data


def _is_retried(block: Kustomize | Helm, spec: Manifest) -> bool:
    """Whether the plan uses `retryInterval` for a release, which has no such key: in a strategy that the author does not set."""
    written = block.flux
    return any(
        "retryInterval" in spec[action]["strategy"] and "strategy" not in written.get(action, {}) for action in _ACTIONS
    )


def _source_values(
    fleet: Fleet, app: PlannedApp, effective: EffectiveApp, variables: dict[str, str]
) -> tuple[Value, ...]:
    """The source of an app is its tenant's; an add-on has its own."""
    # The plan refuses an app of a tenant without a source.
    part = ("sources", effective.block.source or "") if app.tenant else ("source",)
    at = (*(app.at[:2] if app.tenant else app.at), *part)
    source = resolved(fleet, at, Source, variables)
    values = trace(fleet.source, [Layer(at, fleet.raw(*at))], source.model_dump(exclude_none=True))
    return tuple(each.under(*part) for each in values)


def variable(fleet: Fleet, environment: str, cluster: str, name: str, value: str) -> Value:
    """A variable of a cluster with the place that declares it; no place for a built-in one."""
    at = variable_at(fleet, environment, cluster, name)
    return Value((name,), value, origin_at(fleet.source, at) if at else None)
