"""The facts of one subject in an environment: on all of its clusters, on each, why it is there, and in which waves it changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tenantry.facts.changes import hidden
from tenantry.facts.facts import CLUSTER, THE_PLATFORM, Facts, Kind, Subject, subject_of
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Origin, Value, origin_at, placeholders
from tenantry.fleet.placement import Choice, choice_of, choice_of_grant
from tenantry.messages.masking import HIDDEN_VALUE
from tenantry.messages.text import require
from tenantry.plan.engine_order import Chains, bypass
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.waves import After, Wave


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRollout:
    """of: whose it is; `off`: the app keeps out of the waves of its environment. total: how many waves there are. waves: those with
    clusters of the app, and with these alone.

    bypass: what Flux follows by itself, so that it reaches all clusters at the same time, such as `branch main`; or "".
    """

    of: Literal["environment", "off"]
    origin: Origin
    total: int = 0
    waves: tuple[Wave, ...] = ()
    bypass: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A subject on one cluster.

    object: of an app, the Flux object that stands for it on the management cluster. values: those that it does not have on all of
    its clusters.
    """

    cluster: str
    object: str = ""
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A subject in an environment, with secrets hidden.

    choice: why an app or add-on is on its clusters; of a tenant with an included file, which clusters that file may select.
    choices: the same of the apps of a tenant, or of all add-ons. shared: the values that are the same on all of its clusters.
    rollout, gate: of an app; None if the environment has none.
    """

    subject: Subject
    environment: str
    choice: Choice | None = None
    choices: Mapping[str, Choice] = field(default_factory=dict)
    shared: tuple[Value, ...] = ()
    placed: tuple[Placed, ...] = ()
    rollout: AppRollout | None = None
    gate: tuple[After, Origin] | None = None


def explain(fleet: Fleet, plan: Plan, subject: Subject, cluster: str | None = None) -> Explanation:
    """A subject on all of its clusters, or on the one named. Raises: Refused: one of them is not declared."""
    environment, document, facts = plan.environment, fleet.document, Facts(fleet, plan)
    _check_declared(fleet, environment, subject, cluster)
    apps = document.tenants[subject.tenant].apps if subject.tenant else document.platform.addons
    holder = ("tenants", subject.tenant, "apps") if subject.tenant else ("platform", "addons")
    choices = {
        name: choice_of(fleet, environment, (*holder, name), cluster)
        for name in (apps if not subject.name else [subject.name])
    }
    explanation = Explanation(subject=subject, environment=environment, choices=choices)
    planned = {app.cluster: app for app in plan.apps if subject_of(app) == subject}
    if subject.name:
        choice, at = choices[subject.name], (*holder, subject.name)
        clusters: Collection[str] = choice.clusters
        gate = (plan.after, origin_at(fleet.source, ("environments", environment, "after"))) if plan.after else None
        rollout = _rollout(fleet, plan, [planned[name] for name in clusters], at)
        explanation = replace(explanation, choice=choice, choices={}, rollout=rollout, gate=gate)
    else:
        clusters = [name for name in facts.clusters[subject] if name and cluster in (None, name)]
        if subject.tenant in fleet.source.fills:
            explanation = replace(explanation, choice=choice_of_grant(fleet, environment, subject.tenant, cluster))
    placed = [
        Placed(
            cluster=name,
            object=str(planned[name].id) if name in planned else "",
            values=_values(facts, subject, name),
        )
        for name in clusters
    ]
    shared, placed = _apart(placed)
    if not (placed or subject.name):
        shared = tuple(_hidden(facts.of(subject, "").values()))
    return replace(explanation, shared=shared, placed=tuple(placed))


def _values(facts: Facts, subject: Subject, cluster: str) -> tuple[Value, ...]:
    """The values of a subject, of the platform with those of the cluster; then the variables that they use."""
    values = list(facts.of(subject, cluster).values())
    if subject == THE_PLATFORM:
        values += facts.of(CLUSTER, cluster).values()
    names = dict.fromkeys(name for value in values for name in placeholders(value.written))
    variables = facts.variables(subject, cluster)
    used = ((name, facts.variable(subject, cluster, name)) for name in names)
    values += [Value(("placeholders", name), variables[name], place) for name, place in used if place]
    return tuple(_hidden(values))


def _hidden(values: Iterable[Value]) -> Iterator[Value]:
    by_path = {value.path: value for value in values}
    for path, shown in hidden(by_path).items():
        fact = by_path[path]
        changed = fact.written is not None and shown != fact.value
        yield replace(fact, value=shown, written=HIDDEN_VALUE if changed else fact.written)


def _apart(placed: list[Placed]) -> tuple[tuple[Value, ...], list[Placed]]:
    """The values that are the same on all clusters, and the others of each."""
    if len(placed) < 2:
        return (), placed
    first, *rest_of_clusters = ({repr(value) for value in place.values} for place in placed)
    same = first.intersection(*rest_of_clusters)
    shared = tuple(value for value in placed[0].values if repr(value) in same)
    rest = [replace(place, values=tuple(v for v in place.values if repr(v) not in same)) for place in placed]
    return shared, rest


def _rollout(fleet: Fleet, plan: Plan, apps: Collection[PlannedApp], at: tuple[str, ...]) -> AppRollout | None:
    """The rollout of an app, all of whose planned apps are given; None: its environment has none. at: its path in the file."""
    if plan.rollout is None:
        return None
    if any(app.full_name in plan.off for app in apps):
        return AppRollout(of="off", origin=origin_at(fleet.source, (*at, "waves")))
    chains, clusters = Chains(plan), {app.cluster for app in apps}
    waves = [
        replace(
            wave,
            clusters=tuple(cluster for cluster in wave.clusters if cluster in clusters),
            left_out=tuple(name for name in wave.left_out if name in clusters),
        )
        for wave in plan.rollout.waves
        if not clusters.isdisjoint(wave.every)
    ]
    return AppRollout(
        of="environment",
        origin=origin_at(fleet.source, fleet.declared_at(plan.environment, "waves")),
        total=len(plan.rollout.waves),
        waves=tuple(waves),
        bypass=next(filter(None, (bypass(reconciler, chains) for reconciler in apps)), ""),
    )


# --- names ------------------------------------------------------------------------------------------------------------


def _check_declared(fleet: Fleet, environment: str, subject: Subject, cluster: str | None) -> None:
    document, file = fleet.document, fleet.source.file
    if subject.tenant:
        require("tenant", subject.tenant, document.tenants, file)
    if subject.kind is Kind.APP:
        require("app", subject.name, document.tenants[subject.tenant].apps, f"tenant '{subject.tenant}'")
    if subject.kind is Kind.ADDON:
        require("add-on", subject.name, document.platform.addons, "the platform")
    if cluster is not None:
        require("cluster", cluster, clusters_of(fleet, environment), f"environment '{environment}'")
