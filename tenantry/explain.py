"""Why a tenant or an app is what it is: effective values with their origins, and clusters with the reason for each.

Answers come from the same settings the plan is made of, so they hold for what `pulumi up` applies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from tenantry.diagnostics import closest
from tenantry.errors import Path, Refused
from tenantry.fleet import Fleet, clusters_of, matches
from tenantry.merge import Layer
from tenantry.model import Cluster, Model, Selector, Source
from tenantry.model.network import Network
from tenantry.plan import Plan
from tenantry.settings import (
    TIMES,
    EffectiveApp,
    effective_app,
    selector_at,
    selector_of,
    settings_layers,
    tenant_settings,
    variable_at,
    variables_of,
)
from tenantry.template import fill
from tenantry.trace import Origin, Value, origin_at, placeholders, trace


@dataclass(frozen=True, slots=True)
class Placement:
    """Whether one cluster of the environment is taken, and what decides it."""

    cluster: str
    placed: bool
    reason: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Choice:
    """What a selector makes of the clusters; `elsewhere` are those of other environments, which it can not take."""

    selector: str
    origin: Origin
    placements: tuple[Placement, ...]
    elsewhere: tuple[str, ...]

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(each.cluster for each in self.placements if each.placed)


@dataclass(frozen=True, slots=True)
class PlacedApp:
    """An app on one cluster.

    object: the Flux object that stands for it on the management cluster. variables: those its placeholders use.
    """

    cluster: str
    object: str
    values: tuple[Value, ...]
    variables: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ExplainedApp:
    """An app of a tenant, everywhere in an environment."""

    environment: str
    tenant: str
    name: str
    choice: Choice
    placed: tuple[PlacedApp, ...]


@dataclass(frozen=True, slots=True)
class ExplainedTenant:
    """A tenant in an environment; the paths of `namespaces` are clusters, the keys of `apps` are names."""

    environment: str
    name: str
    namespaces: tuple[Value, ...]
    settings: tuple[Value, ...]
    apps: dict[str, Choice]


def explain_tenant(fleet: Fleet, plan: Plan, tenant: str, cluster: str | None = None) -> ExplainedTenant:
    """The settings of a tenant, and where its apps are. Raises: Refused: the tenant or the cluster is not declared."""
    _known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    _known_cluster(fleet, cluster)
    return ExplainedTenant(
        plan.environment,
        tenant,
        tuple(
            replace(_namespace(fleet, plan, tenant, each.cluster), path=(each.cluster,))
            for each in plan.placements
            if each.tenant == tenant and cluster in (None, each.cluster)
        ),
        _settings(fleet, tenant),
        {app: _choice(fleet, plan, tenant, app, cluster) for app in fleet.document.tenants[tenant].apps},
    )


def explain_app(fleet: Fleet, plan: Plan, tenant: str, app: str, cluster: str | None = None) -> ExplainedApp:
    """An app on every cluster it is placed on, or on the one named. Raises: Refused: one of them is not declared."""
    _known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    _known("app", app, fleet.document.tenants[tenant].apps, f"tenant '{tenant}'")
    _known_cluster(fleet, cluster)
    choice = _choice(fleet, plan, tenant, app, cluster)
    placed = tuple(_placed(fleet, plan, tenant, app, each) for each in choice.clusters)
    return ExplainedApp(plan.environment, tenant, app, choice, placed)


def _known_cluster(fleet: Fleet, cluster: str | None) -> None:
    if cluster is not None:
        _known("cluster", cluster, fleet.clusters, fleet.source.file)


def _known(what: str, name: str, declared: Iterable[str], owner: str) -> None:
    names = list(declared)
    if name not in names:
        near = closest(name, names)
        listed = ", ".join(names) or "none"
        remedy = f"name '{near}'" if near else "name one of these" if names else ""
        raise Refused(f"{owner} declares no {what} '{name}' (declared: {listed})", remedy)


# --- clusters ---------------------------------------------------------------------------------------------------


def _choice(fleet: Fleet, plan: Plan, tenant: str, app: str, cluster: str | None) -> Choice:
    selector = selector_of(fleet, tenant, app)
    assert selector is not None  # a rule of the fleet
    at = selector_at(fleet, tenant, app)
    here = clusters_of(fleet, plan.environment)
    return Choice(
        _in_words(selector),
        origin_at(fleet.source, at),
        tuple(_placement(fleet, selector, at, name) for name in here if cluster in (None, name)),
        tuple(name for name in fleet.clusters if name not in here and cluster in (None, name)),
    )


def _placement(fleet: Fleet, selector: Selector, at: Path, name: str) -> Placement:
    declared = fleet.clusters[name]
    reason, why = _reason(selector, at, name, declared)
    return Placement(name, matches(selector, name, declared), reason, origin_at(fleet.source, why))


def _reason(selector: Selector, at: Path, name: str, cluster: Cluster) -> tuple[str, Path]:
    """What decides about a cluster, and where it stands in the document."""
    if name in selector.exclude:
        return "excluded by name", (*at, "exclude", selector.exclude.index(name))
    if selector.names is not None:
        if name in selector.names:
            return "named", (*at, "names", selector.names.index(name))
        return "not named", (*at, "names")
    for label, wanted in (selector.labels or {}).items():
        if label not in cluster.labels:
            return f"has no label '{label}'", ("clusters", name)
        if cluster.labels[label] != wanted:
            return f"label {label} is '{cluster.labels[label]}'", ("clusters", name, "labels", label)
    if selector.labels is not None:
        return "its labels match", ("clusters", name, "labels", next(iter(selector.labels)))
    return "all clusters are taken", (*at, "all")


def _in_words(selector: Selector) -> str:
    if selector.names is not None:
        taken = f"names {', '.join(selector.names)}"
    elif selector.labels is not None:
        taken = f"labels {', '.join(f'{label}={value}' for label, value in selector.labels.items())}"
    else:
        taken = "all"
    return taken + (f", except {', '.join(selector.exclude)}" if selector.exclude else "")


# --- values -----------------------------------------------------------------------------------------------------


def _settings(fleet: Fleet, tenant: str) -> tuple[Value, ...]:
    effective = _plain(asdict(tenant_settings(fleet, tenant)))
    values = trace(fleet.source, settings_layers(fleet, tenant), effective)
    return tuple(each for each in values if each.origin or each.removed or each.value not in ({}, []))


def _plain(value: Any) -> Any:
    """Settings as the author could have written them: models as mappings, without what is not said."""
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


def _placed(fleet: Fleet, plan: Plan, tenant: str, app: str, cluster: str) -> PlacedApp:
    variables = variables_of(fleet, plan.environment, cluster, tenant=tenant)
    at = ("tenants", tenant, "apps", app)
    effective = effective_app(fleet, at, plan.environment, cluster, {**variables, "app": app})
    values = (
        _namespace(fleet, plan, tenant, cluster),
        *_app_values(fleet, tenant, effective),
        *_source_values(fleet, tenant, effective.block.source, variables),
    )
    used = dict.fromkeys(name for value in values for name in placeholders(value.written))
    return PlacedApp(
        cluster,
        next(str(each.id) for each in plan.apps if (each.tenant, each.name, each.cluster) == (tenant, app, cluster)),
        values,
        tuple(_variable(fleet, plan.environment, cluster, name, {**variables, "app": app}[name]) for name in used),
    )


def _app_values(fleet: Fleet, tenant: str, app: EffectiveApp) -> tuple[Value, ...]:
    """The app's block and dependencies; times it does not set itself are its tenant's."""
    effective: dict[str, Any] = {app.kind: app.block.model_dump(exclude_none=True)}
    if app.depends_on:
        effective["dependsOn"] = list(app.depends_on)
    values = {each.path: each for each in trace(fleet.source, app.layers, effective)}
    for time in _settings(fleet, tenant):
        if time.path[0] not in TIMES:
            continue
        # Releases have no 'retryInterval'; the fleet retries their installs and upgrades that often.
        path = (app.kind, *time.path) if time.path[0] in type(app.block).model_fields else time.path
        own = values.get(path)
        if own is None or own.value is None:
            values[path] = replace(time, path=path, removed=own.removed if own else time.removed)
    groups = list(dict.fromkeys(path[0] for path in values))
    return tuple(sorted(values.values(), key=lambda each: groups.index(each.path[0])))


def _source_values(fleet: Fleet, tenant: str, name: str | None, variables: dict[str, str]) -> tuple[Value, ...]:
    if name is None:  # refused by the plan
        return ()
    at = ("tenants", tenant, "sources", name)
    declared = fleet.raw(*at)
    source = Source.model_validate(fill(declared, variables, at))
    values = trace(fleet.source, [Layer(at, declared)], source.model_dump(exclude_none=True))
    return tuple(each.under("sources", name) for each in values)


def _variable(fleet: Fleet, environment: str, cluster: str, name: str, value: str) -> Value:
    at = variable_at(fleet, environment, cluster, name)
    return Value((name,), value, origin_at(fleet.source, at) if at else None)
