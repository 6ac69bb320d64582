"""Explains the settings of a tenant, an app or an add-on: effective values with their origins, and why each cluster is selected.

The answers come from the settings that the plan uses, so they describe what `pulumi up` applies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.placement import Choice, choice_of_addon, choice_of_app
from tenantry.fleet.resolve import resolved
from tenantry.fleet.settings import (
    TIMES,
    EffectiveApp,
    effective_app,
    platform_layers,
    platform_settings,
    settings_layers,
    tenant_settings,
    variable_at,
    variables_of,
)
from tenantry.fleet.sharing import platform_account
from tenantry.fleet.trace import Value, origin_at, placeholders, trace
from tenantry.messages.errors import Refused
from tenantry.messages.text import closest
from tenantry.model import ChartRepository, Helm, Kustomize, Model, Source
from tenantry.model.network import Network
from tenantry.plan.images import PlannedImage
from tenantry.plan.objects.apps import Action, strategy_name
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedApp:
    """An app on one cluster.

    object: the Flux object that stands for it on the management cluster. images: those whose tags are followed on this
    cluster. placeholders: the variables that its values use.
    """

    cluster: str
    object: str
    values: tuple[Value, ...]
    images: tuple[PlannedImage, ...]
    placeholders: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedApp:
    """An app of a tenant, or an add-on, whose tenant is "", in all of an environment."""

    tenant: str
    app: str
    environment: str
    choice: Choice
    placed: tuple[PlacedApp, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedTenant:
    """A tenant in an environment; the paths of `namespaces` are clusters, the keys of `apps` and first parts of `alerts` names."""

    tenant: str
    environment: str
    namespaces: tuple[Value, ...]
    settings: tuple[Value, ...]
    apps: dict[str, Choice]
    alerts: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPlatform:
    """The settings of the platform's add-ons in an environment: everywhere, and on each cluster."""

    environment: str
    settings: tuple[Value, ...]
    clusters: dict[str, tuple[Value, ...]]
    addons: dict[str, Choice]
    alerts: tuple[Value, ...]


def explain_tenant(fleet: Fleet, plan: Plan, tenant: str, cluster: str | None = None) -> ExplainedTenant:
    """The settings of a tenant, and where its apps are. Raises: Refused: the tenant or the cluster is not declared."""
    _known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    _known_cluster(fleet, plan.environment, cluster)
    return ExplainedTenant(
        tenant=tenant,
        environment=plan.environment,
        namespaces=tuple(
            replace(_namespace(fleet, plan, tenant, each.cluster), path=(each.cluster,))
            for each in plan.placements
            if each.tenant == tenant and cluster in (None, each.cluster)
        ),
        settings=_settings(fleet, tenant),
        apps={
            app: choice_of_app(fleet, plan.environment, tenant, app, cluster)
            for app in fleet.document.tenants[tenant].apps
        },
        alerts=_alerts(fleet, "tenants", tenant, "alerts"),
    )


def explain_app(fleet: Fleet, plan: Plan, tenant: str, app: str, cluster: str | None = None) -> ExplainedApp:
    """An app on every cluster it is placed on, or on the one named. Raises: Refused: one of them is not declared."""
    _known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    _known("app", app, fleet.document.tenants[tenant].apps, f"tenant '{tenant}'")
    _known_cluster(fleet, plan.environment, cluster)
    choice = choice_of_app(fleet, plan.environment, tenant, app, cluster)
    placed = tuple(_placed_app(fleet, plan, tenant, app, each) for each in choice.clusters)
    return ExplainedApp(tenant=tenant, app=app, environment=plan.environment, choice=choice, placed=placed)


def explain_platform(fleet: Fleet, plan: Plan, cluster: str | None = None) -> ExplainedPlatform:
    """The settings that add-ons share, and where each is. Raises: Refused: the cluster is not declared."""
    _known_cluster(fleet, plan.environment, cluster)
    here = [each for each in clusters_of(fleet, plan.environment) if cluster in (None, each)]
    addons = fleet.document.platform.addons
    return ExplainedPlatform(
        environment=plan.environment,
        settings=(_platform_namespace(fleet), *_platform_times(fleet)),
        clusters={each: (_platform_account(fleet, plan, each), *_chart_values(fleet, plan, each)) for each in here},
        addons={addon: choice_of_addon(fleet, plan.environment, addon, cluster) for addon in addons},
        alerts=_alerts(fleet, "platform", "alerts"),
    )


def explain_addon(fleet: Fleet, plan: Plan, addon: str, cluster: str | None = None) -> ExplainedApp:
    """An add-on, in the form of `explain_app`. Raises: Refused: the add-on or the cluster is not declared."""
    _known("add-on", addon, fleet.document.platform.addons, "the platform")
    _known_cluster(fleet, plan.environment, cluster)
    choice = choice_of_addon(fleet, plan.environment, addon, cluster)
    placed = tuple(_placed_addon(fleet, plan, addon, each) for each in choice.clusters)
    return ExplainedApp(tenant="", app=addon, environment=plan.environment, choice=choice, placed=placed)


def _known_cluster(fleet: Fleet, environment: str, cluster: str | None) -> None:
    if cluster is None:
        return
    _known("cluster", cluster, fleet.clusters, fleet.source.file)
    if cluster not in (here := clusters_of(fleet, environment)):
        raise Refused(f"cluster '{cluster}' is not in environment '{environment}'", f"name one of: {', '.join(here)}")


def _known(what: str, name: str, declared: Iterable[str], owner: str) -> None:
    names = list(declared)
    if name not in names:
        near = closest(name, names)
        listed = ", ".join(names) or "none"
        fix = f"name '{near}'" if near else "name one of these" if names else ""
        raise Refused(f"{owner} declares no {what} '{name}' (declared: {listed})", fix)


# --- values -----------------------------------------------------------------------------------------------------


def _settings(fleet: Fleet, tenant: str) -> tuple[Value, ...]:
    effective = _plain(asdict(tenant_settings(fleet, tenant)))
    values = trace(fleet.source, settings_layers(fleet, tenant), effective)
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


def _namespace(fleet: Fleet, plan: Plan, tenant: str, cluster: str) -> Value:
    """The tenant's namespace on a cluster, from the environment's template."""
    name = next(each.namespace for each in plan.placements if (each.tenant, each.cluster) == (tenant, cluster))
    written = fleet.environments[plan.environment].namespace
    at = fleet.said_at(plan.environment, "namespace")
    declared = "namespace" in fleet.raw("environments", str(at[1]))
    return Value(("namespace",), name, origin_at(fleet.source, at) if declared else None, written)


def _placed_app(fleet: Fleet, plan: Plan, tenant: str, app: str, cluster: str) -> PlacedApp:
    variables = variables_of(fleet, plan.environment, cluster, tenant=tenant)
    at = ("tenants", tenant, "apps", app)
    effective = effective_app(fleet, at, plan.environment, cluster, {**variables, "app": app})
    times = tuple(each for each in _settings(fleet, tenant) if each.path[0] in TIMES)
    values = (_namespace(fleet, plan, tenant, cluster), *_app_values(fleet, effective, times))
    if source := effective.block.source:  # the plan refuses an app without one
        found = _source_values(fleet, ("tenants", tenant, "sources", source), variables)
        values += tuple(each.under("sources", source) for each in found)
    return _placed(fleet, plan, (tenant, app, cluster), values, {**variables, "app": app})


def _placed_addon(fleet: Fleet, plan: Plan, addon: str, cluster: str) -> PlacedApp:
    variables = variables_of(fleet, plan.environment, cluster)
    at = ("platform", "addons", addon)
    effective = effective_app(fleet, at, plan.environment, cluster, {**variables, "app": addon})
    values = (
        _platform_namespace(fleet),
        *_app_values(fleet, effective, _platform_times(fleet)),
        *(each.under("source") for each in _source_values(fleet, (*at, "source"), variables)),
    )
    return _placed(fleet, plan, ("", addon, cluster), values, {**variables, "app": addon})


def _placed(
    fleet: Fleet, plan: Plan, key: tuple[str, str, str], values: tuple[Value, ...], variables: dict[str, str]
) -> PlacedApp:
    """Args: key: tenant, app and cluster, as the plan has them."""
    used = dict.fromkeys(name for value in values for name in placeholders(value.written))
    app = next(each for each in plan.apps if (each.tenant, each.name, each.cluster) == key)
    return PlacedApp(
        cluster=key[2],
        object=str(app.id),
        values=values,
        images=app.images,
        placeholders=tuple(_variable(fleet, plan.environment, key[2], name, variables[name]) for name in used),
    )


def _app_values(fleet: Fleet, app: EffectiveApp, times: tuple[Value, ...]) -> tuple[Value, ...]:
    """The app's block and dependencies; times it does not set itself are its tenant's, or the platform's."""
    effective: dict[str, Any] = {app.kind: _as_planned(app.block)}
    if app.depends_on:
        effective["dependsOn"] = list(app.depends_on)
    values = {each.path: each for each in trace(fleet.source, app.layers, effective)}
    for time in times:
        # Releases have no 'retryInterval'; the fleet retries their installs and upgrades that often.
        path = (app.kind, *time.path) if time.path[0] in type(app.block).model_fields else time.path
        own = values.get(path)
        if own is None or own.value is None:
            values[path] = replace(time, path=path, removed=own.removed if own else time.removed)
    groups = list(dict.fromkeys(path[0] for path in values))
    return tuple(sorted(values.values(), key=lambda each: groups.index(each.path[0])))


def _as_planned(block: Kustomize | Helm) -> dict[str, Any]:
    """The block with the strategies that its install and upgrade get where the author names none."""
    data = block.model_dump(exclude_none=True)
    if isinstance(block, Helm):
        for action in get_args(Action):
            data[action] = {"strategy": {"name": strategy_name(block, action)}, **data.get(action, {})}
    return data


def _source_values(fleet: Fleet, at: tuple[str, ...], variables: dict[str, str]) -> tuple[Value, ...]:
    source = resolved(fleet, at, Source, variables)
    return trace(fleet.source, [Layer(at, fleet.raw(*at))], source.model_dump(exclude_none=True))


def _alerts(fleet: Fleet, *at: str) -> tuple[Value, ...]:
    """The settings that all alerts at a path share, as written: placeholders differ between clusters."""
    layers = {name: Layer((*at, name), fleet.raw(*at, name)) for name in fleet.raw(*at)}
    found = ((name, each) for name, layer in layers.items() for each in trace(fleet.source, [layer], merge([layer])))
    return tuple(replace(each, written=None).under(name) for name, each in found)


def _platform_times(fleet: Fleet) -> tuple[Value, ...]:
    settings = platform_settings(fleet)
    return trace(fleet.source, platform_layers(fleet), {time: getattr(settings, time) for time in TIMES})


def _platform_namespace(fleet: Fleet) -> Value:
    """Where the platform's objects are on every cluster, including Helm's release records."""
    declared = "namespace" in fleet.raw("platform")
    at = origin_at(fleet.source, ("platform", "namespace")) if declared else None
    return Value(("namespace",), fleet.document.platform.namespace, at)


def _platform_account(fleet: Fleet, plan: Plan, cluster: str) -> Value:
    key = "platformServiceAccount"
    at = origin_at(fleet.source, ("clusters", cluster, key)) if key in fleet.raw("clusters", cluster) else None
    return Value((key,), platform_account(fleet, plan.environment, cluster), at)


def _chart_values(fleet: Fleet, plan: Plan, cluster: str) -> tuple[Value, ...]:
    """The source of the objects chart, on a remote cluster with a baseline to install."""
    if cluster == plan.management or all(each.cluster != cluster for each in plan.placements):
        return ()
    at = ("platform", "chart", "helm")
    chart = resolved(fleet, at, ChartRepository, variables_of(fleet, plan.environment, cluster))
    values = trace(fleet.source, [Layer(at, fleet.raw(*at))], chart.model_dump())
    return tuple(each.under("chart", "helm") for each in values)


def _variable(fleet: Fleet, environment: str, cluster: str, name: str, value: str) -> Value:
    at = variable_at(fleet, environment, cluster, name)
    return Value((name,), value, origin_at(fleet.source, at) if at else None)
