"""Why an app or an add-on is on a cluster or not: one decision for each cluster of an environment, with its place in the file.

Called by: `explain`. The plan asks `placement`, whose answers these are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Origin, origin_at
from tenantry.fleet.placement import (
    Barrier,
    addon_environment,
    barrier,
    cluster_is_granted,
    granted_selector,
    is_restricted,
    matches,
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


def choice_of(fleet: Fleet, environment: str, at: tuple[str, ...], cluster: str | None = None) -> Choice:
    """Where the app or add-on at a path is placed; on the named cluster alone, if there is one."""
    selector, place = selector_of(fleet, at)
    assert selector is not None  # a rule of the fleet
    above, is_addon, restricted = barrier(fleet, environment, at), at[0] == "platform", is_restricted(fleet, at)

    def keeps_off(name: str) -> Barrier | None:
        if above or is_addon:
            return above or _elsewhere(fleet, environment, at[-1], name)
        is_granted = not restricted or cluster_is_granted(fleet, at[1], name)
        return None if is_granted else Barrier("it is not granted", granted_selector(fleet, at[1])[1])

    return _choice(fleet, environment, (selector, place), cluster, keeps_off)


def choice_of_grant(fleet: Fleet, environment: str, tenant: str, cluster: str | None = None) -> Choice | None:
    """Which clusters the tenant's included file can select; None if the main file selects none to choose from."""
    selector, at = granted_selector(fleet, tenant)
    if selector is None:
        return None
    above = tenant_barrier(fleet, environment, tenant)
    management = Barrier("a management cluster; 'all' does not include it", (*at, "all"))

    def keeps_off(name: str) -> Barrier | None:
        return above if cluster_is_granted(fleet, tenant, name) else management

    return _choice(fleet, environment, (selector, at), cluster, keeps_off)


def _elsewhere(fleet: Fleet, environment: str, addon: str, cluster: str) -> Barrier | None:
    """Another environment that has the add-on on the cluster."""
    owner = addon_environment(fleet, addon, cluster)
    if owner is None or owner == environment:
        return None
    at = ("clusters", cluster, "environments", fleet.clusters[cluster].environments.index(owner))
    whose = "it belongs" if fleet.document.platform.addons[addon].environments else "its add-ons belong"
    return Barrier(f"{whose} to environment {owner}", at)


def _choice(
    fleet: Fleet,
    environment: str,
    written: tuple[Selector, Path],
    cluster: str | None,
    keeps_off: Callable[[str], Barrier | None],
) -> Choice:
    """Args: written: the selector, and where it stands; keeps_off: what keeps the subject off a cluster that is selected."""
    (selector, at), clusters, decisions = written, clusters_of(fleet, environment), []
    for name in clusters:
        if cluster in (None, name):
            placed = matches(selector, name, fleet.clusters[name])
            off = keeps_off(name) if placed else None
            reason, place = off or _reason(selector, at, name, fleet.clusters[name])
            decisions.append(Decision(name, placed and off is None, reason, origin_at(fleet.source, place)))
    elsewhere = tuple(name for name in fleet.clusters if name not in clusters and cluster in (None, name))
    return Choice(selector.description, origin_at(fleet.source, at), tuple(decisions), elsewhere)


def _reason(selector: Selector, at: Path, name: str, cluster: Cluster) -> tuple[str, Path]:
    """The selector that decides about a cluster, and its place in the document."""
    without, excluded = (*at, "exclude"), selector.excluded
    if excluded.names and name in excluded.names:
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
