"""An app or add-on: where it is placed and why, its values on each cluster, and the waves in which a change reaches them.

The plan says where an app is and what its object is called. The file says which level sets each value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tenantry.explain.common import Keeper, keeper, known, known_cluster
from tenantry.fleet.choice import Choice, choice_of_addon, choice_of_app
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Origin, Value, origin_at, placeholders
from tenantry.fleet.placed import placed_app
from tenantry.fleet.settings import variable_at
from tenantry.kube.names import app_name
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.placeholders import Scalar
from tenantry.plan.after import After
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.bypasses import bypass
from tenantry.rollout.drawing import rollout_at
from tenantry.rollout.waves import Rollout


@dataclass(frozen=True, slots=True)
class AppWave:
    """A wave with clusters of an app. number: in the whole rollout. left_out: clusters that nothing waits for.

    soak: seconds for which the next wave waits after this one was good. tolerate: as written, how many clusters may go wrong.
    """

    number: int
    name: str
    clusters: tuple[str, ...]
    left_out: tuple[str, ...]
    soak: int = 0
    tolerate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRollout:
    """of: whose it is; `off`: the app keeps out of the waves of its environment. total: how many waves there are.

    bypass: what Flux follows by itself, so that it reaches all clusters at the same time, such as `branch main`; or "".
    """

    of: Literal["environment", "off"]
    origin: Origin
    total: int
    waves: tuple[AppWave, ...]
    bypass: str


def rollout_of(fleet: Fleet, plan: Plan, apps: Collection[PlannedApp], at: tuple[str, ...]) -> AppRollout | None:
    """The rollout of an app, all of whose planned apps are given; None: its environment has none. at: its path in the file."""
    if plan.rollout is None:
        return None
    if app_name(at[1] if at[0] == "tenants" else "", at[-1]) in plan.off:
        return AppRollout(of="off", origin=origin_at(fleet.source, (*at, "rollout")), total=0, waves=(), bypass="")
    objects = {planned.id: planned for planned in plan.objects}
    return AppRollout(
        of="environment",
        origin=origin_at(fleet.source, rollout_at(fleet, plan.environment)),
        total=len(plan.rollout.waves),
        waves=tuple(_waves(plan.rollout, {app.cluster for app in apps})),
        bypass=next(filter(None, (bypass(each, objects) for each in apps)), ""),
    )


def _waves(rollout: Rollout, clusters: Collection[str]) -> Iterator[AppWave]:
    for wave in rollout.waves:
        active, left_out = (
            tuple(each for each in names if each in clusters) for names in (wave.clusters, wave.left_out)
        )
        if active or left_out:
            yield AppWave(wave.number, wave.name, active, left_out, wave.soak, wave.tolerate.written)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedApp:
    """An app on one cluster.

    object: the Flux object that stands for it on the management cluster. names: those that were too long and were shortened, each
    with the whole name. order: what it waits for, and who keeps that order. placeholders: the variables that its values use.
    """

    cluster: str
    object: str
    names: Mapping[str, str]
    values: tuple[Value, ...]
    order: Mapping[str, Keeper]
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
    placed = placed_app(fleet, plan.environment, app.at, app.cluster)
    variables = placed.variables
    used = dict.fromkeys(name for value in placed.values for name in placeholders(value.written))
    return PlacedApp(
        cluster=app.cluster,
        object=str(app.id),
        names=app.shortened,
        values=placed.values,
        order={name: keeper(app.id.kind, id, objects.get(id)) for name, id in app.after.items()},
        placeholders=tuple(
            variable(fleet, plan.environment, app.cluster, name, variables[name], app.tenant) for name in used
        ),
    )


def variable(fleet: Fleet, environment: str, cluster: str, name: str, value: Scalar, tenant: str = "") -> Value:
    """A placeholder with the place that declares its value; no place for a built-in one. tenant: whose variables hold too."""
    at = variable_at(fleet, environment, cluster, name, tenant)
    return Value((name,), value, origin_at(fleet.source, at) if at else None)
