"""Why an app or an add-on is on a cluster or not: one decision for each cluster of an environment, with its place in the file.

Called by: `explain`. The plan asks `placement`, whose answers these are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Origin, origin_at
from tenantry.fleet.placement import (
    Barrier,
    addon_barrier,
    addon_environment,
    app_barrier,
    cluster_is_granted,
    granted_selector,
    is_restricted,
    matches,
    selector_at,
    selector_of,
    tenant_barrier,
)
from tenantry.messages.errors import Path
from tenantry.model import Cluster, Selector
from tenantry.model.selector import format_labels, has_labels, missed


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether one cluster of the environment is taken, and what decides it."""

    cluster: str
    placed: bool
    reason: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Choice:
    """Apply the selector to the clusters; `elsewhere` are clusters of other environments, which it cannot select."""

    selector: str
    origin: Origin
    decisions: tuple[Decision, ...]
    elsewhere: tuple[str, ...]

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(decision.cluster for decision in self.decisions if decision.placed)


def choice_of_app(fleet: Fleet, environment: str, tenant: str, app: str, cluster: str | None = None) -> Choice:
    """Where an app of a tenant is placed; of the named cluster alone, if there is one."""
    selector = selector_of(fleet, tenant, app)
    assert selector is not None  # a rule of the fleet
    choice = _choice(fleet, environment, selector, selector_at(fleet, tenant, app), cluster)
    barrier = app_barrier(fleet, environment, tenant, app)
    decisions = []
    for decision in choice.decisions:
        decision = _unless(fleet, barrier, decision)
        if is_restricted(fleet, tenant, app) and not cluster_is_granted(fleet, tenant, decision.cluster):
            decision = _unless(fleet, Barrier("it is not granted", granted_selector(fleet, tenant)[1]), decision)
        decisions.append(decision)
    return replace(choice, decisions=tuple(decisions))


def _unless(fleet: Fleet, barrier: Barrier | None, decision: Decision) -> Decision:
    """The decision, unless something keeps the app or add-on out of the environment."""
    if not decision.placed or barrier is None:
        return decision
    return replace(decision, placed=False, reason=barrier.reason, origin=origin_at(fleet.source, barrier.at))


def choice_of_grant(fleet: Fleet, environment: str, tenant: str, cluster: str | None = None) -> Choice | None:
    """Which clusters the tenant's included file can select; None if the main file selects none to choose from."""
    selector, at = granted_selector(fleet, tenant)
    if selector is None:
        return None
    choice = _choice(fleet, environment, selector, at, cluster)
    barrier = tenant_barrier(fleet, environment, tenant)
    decisions = []
    for decision in choice.decisions:
        if decision.placed != cluster_is_granted(fleet, tenant, decision.cluster):
            decision = replace(decision, placed=False, reason="a management cluster; 'all' does not include it")
        decisions.append(_unless(fleet, barrier, decision))
    return replace(choice, decisions=tuple(decisions))


def choice_of_addon(fleet: Fleet, environment: str, addon: str, cluster: str | None = None) -> Choice:
    """The same for an add-on; it is not placed where another environment has the cluster's add-ons."""
    selector = fleet.document.platform.addons[addon].selector
    choice = _choice(fleet, environment, selector, ("platform", "addons", addon, "clusters"), cluster)
    barrier = addon_barrier(fleet, environment, addon)
    decisions = []
    for decision in (_unless(fleet, barrier, decision) for decision in choice.decisions):
        decisions.append(_unless(fleet, _elsewhere(fleet, environment, addon, decision), decision))
    return replace(choice, decisions=tuple(decisions))


def _elsewhere(fleet: Fleet, environment: str, addon: str, decision: Decision) -> Barrier | None:
    """Another environment that has the add-on on the cluster."""
    owner = addon_environment(fleet, addon, decision.cluster)
    if owner in (None, environment):
        return None
    index = fleet.clusters[decision.cluster].environments.index(owner)
    at = ("clusters", decision.cluster, "environments", index)
    whose = "it belongs" if fleet.document.platform.addons[addon].environments else "its add-ons belong"
    return Barrier(f"{whose} to environment {owner}", at)


def _choice(fleet: Fleet, environment: str, selector: Selector, at: Path, cluster: str | None) -> Choice:
    clusters = clusters_of(fleet, environment)
    decisions = []
    for name in clusters:
        if cluster in (None, name):
            declared = fleet.clusters[name]
            reason, place = _reason(selector, at, name, declared)
            decisions.append(Decision(name, matches(selector, name, declared), reason, origin_at(fleet.source, place)))
    elsewhere = tuple(name for name in fleet.clusters if name not in clusters and cluster in (None, name))
    return Choice(selector.description, origin_at(fleet.source, at), tuple(decisions), elsewhere)


def _reason(selector: Selector, at: Path, name: str, cluster: Cluster) -> tuple[str, Path]:
    """The selector that decides about a cluster, and its place in the document."""
    without, excluded = (*at, "exclude"), selector.excluded
    if name in excluded.names:
        names_at = without if isinstance(selector.exclude, list) else (*without, "names")
        return "excluded by name", (*names_at, excluded.names.index(name))
    if excluded.labels and has_labels(excluded.labels, cluster.labels):
        return f"excluded by {format_labels(excluded.labels)}", (*without, "labels")
    if selector.names is not None:
        if name in selector.names:
            return "named", (*at, "names", selector.names.index(name))
        return "not named", (*at, "names")
    for label in missed(selector.labels or {}, cluster.labels):
        if label not in cluster.labels:
            return f"has no label '{label}'", ("clusters", name)
        return f"label {label} is '{cluster.labels[label]}'", ("clusters", name, "labels", label)
    if selector.labels is not None:
        return "its labels match", ("clusters", name, "labels", next(iter(selector.labels)))
    return "all clusters are taken", (*at, "all")
