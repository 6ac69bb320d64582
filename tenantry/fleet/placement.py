"""Which environments and clusters a tenant, an app or an add-on is in, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer, Origin, origin_at
from tenantry.fleet.templates import is_nearer
from tenantry.grants.grants import grant_at, grants_of, is_filled
from tenantry.messages.errors import Path
from tenantry.model import Cluster, Selector
from tenantry.model.selector import format_labels, has_labels, missed


class Barrier(NamedTuple):
    """What keeps something out of an environment, in words, and the place that says so."""

    reason: str
    at: Path


def reaches(fleet: Fleet, names: Iterable[str], environment: str) -> bool:
    """Whether a list names an environment, or one that it extends."""
    return not set(names).isdisjoint(fleet.lineage(environment))


def barrier(fleet: Fleet, environment: str, at: tuple[str, ...]) -> Barrier | None:
    """What keeps the app or add-on at a path out of an environment. An app's list replaces the tenant's, unless an included file
    wrote it.
    """
    if at[0] == "platform":
        return _listed(fleet, environment, at, fleet.document.platform.addons[at[-1]].environments)
    own = fleet.document.tenants[at[1]].apps[at[-1]].environments
    if own is None:
        return tenant_barrier(fleet, environment, at[1])
    above = tenant_barrier if is_filled(fleet, at) else frame_barrier
    return _listed(fleet, environment, at, own) or above(fleet, environment, at[1])


def tenant_barrier(fleet: Fleet, environment: str, tenant: str) -> Barrier | None:
    """What keeps the apps of a tenant out of an environment, unless they have lists of their own."""
    listed = _listed(fleet, environment, ("tenants", tenant), fleet.document.tenants[tenant].environments)
    return listed or frame_barrier(fleet, environment, tenant)


def frame_barrier(fleet: Fleet, environment: str, tenant: str) -> Barrier | None:
    """What keeps a tenant out of an environment, whatever it says itself: the environment, or a missing grant."""
    declared = fleet.document.environments.get(environment)
    if declared and declared.tenants is not None and tenant not in declared.tenants:
        return Barrier(f"environment {environment}: not in 'tenants'", fleet.declared_at(environment, "tenants"))
    grants = grants_of(fleet, tenant)
    if grants is None or grants.environments is None or reaches(fleet, grants.environments, environment):
        return None
    return Barrier(f"environment {environment} is not granted", grant_at(fleet, tenant, "environments"))


def by_rank(fleet: Fleet, cluster: str) -> list[str]:
    """The environments of a cluster, in the order in which they come to have what the cluster has once.

    Those of a few tenants are last: what a release environment had would go with the release.
    """
    declared = fleet.environments
    return sorted(
        fleet.clusters[cluster].environments,
        key=lambda name: name in declared and declared[name].tenants is not None,
    )


def addon_environment(fleet: Fleet, addon: str, cluster: str) -> str | None:
    """The environment that has an add-on on a cluster, if the add-on is there; None: no environment there admits it."""
    at = ("platform", "addons", addon)
    return next((name for name in by_rank(fleet, cluster) if not barrier(fleet, name, at)), None)


def _listed(fleet: Fleet, environment: str, at: tuple[str, ...], names: list[str] | None) -> Barrier | None:
    if names is None or reaches(fleet, names, environment):
        return None
    return Barrier(f"environment {environment}: not in 'environments'", (*at, "environments"))


def matches(selector: Selector, name: str, cluster: Cluster) -> bool:
    """Whether a selector takes a cluster, whatever the environment."""
    return selector.takes(name, cluster.labels)


def selector_of(fleet: Fleet, at: tuple[str, ...]) -> tuple[Selector | None, Path]:
    """The selector of the app or add-on at a path, its own or its tenant's, and where it stands."""
    if at[0] == "platform":
        return fleet.document.platform.addons[at[-1]].clusters, (*at, "clusters")
    declared = fleet.document.tenants[at[1]]
    own = declared.apps[at[-1]].clusters
    return (own, (*at, "clusters")) if own else (declared.clusters, (*at[:2], "clusters"))


def apps_by_cluster(fleet: Fleet, environment: str, tenant: str, clusters: Iterable[str]) -> dict[str, list[str]]:
    """The tenant's apps that an environment places on each of its clusters, without clusters that have none."""
    clusters = tuple(clusters)
    placed: dict[str, list[str]] = {}
    for app in fleet.document.tenants[tenant].apps:
        if not barrier(fleet, environment, at := ("tenants", tenant, "apps", app)):
            for cluster in clusters_taken(fleet, at, clusters):
                placed.setdefault(cluster, []).append(app)
    return placed


def clusters_taken(fleet: Fleet, at: tuple[str, ...], clusters: Iterable[str] | None = None) -> Iterator[str]:
    """The clusters, all or those of some, that the app or add-on at a path selects, whatever the environment."""
    selector, _ = selector_of(fleet, at)
    restricted = is_restricted(fleet, at)
    for cluster in (fleet.clusters if clusters is None else clusters) if selector else ():
        is_selected = selector and matches(selector, cluster, fleet.clusters[cluster])
        if is_selected and (not restricted or cluster_is_granted(fleet, at[1], cluster)):
            yield cluster


def is_restricted(fleet: Fleet, at: tuple[str, ...]) -> bool:
    """Whether an included file chooses the clusters of the app at a path, so that only granted ones count."""
    return is_filled(fleet, at) or is_filled(fleet, selector_of(fleet, at)[1])


def cluster_is_granted(fleet: Fleet, tenant: str, cluster: str) -> bool:
    """Whether the tenant's included file can choose a cluster. A management cluster must be named or labelled."""
    if grants_of(fleet, tenant) is None:
        return True
    selector, _ = granted_selector(fleet, tenant)
    if selector is None or not matches(selector, cluster, fleet.clusters[cluster]):
        return False
    return not (selector.all and is_management(fleet, cluster))


def granted_selector(fleet: Fleet, tenant: str) -> tuple[Selector | None, Path]:
    """What an included file selects clusters from, and its place: the nearest grant, or selector, of the main file."""
    return fleet.once(("granted", tenant), (), lambda: _granted_selector(fleet, tenant))


def _granted_selector(fleet: Fleet, tenant: str) -> tuple[Selector | None, Path]:
    declared, at = fleet.document.tenants[tenant], ("tenants", tenant)
    granted, own = (*at, "grants", "clusters"), (*at, "clusters")
    selector = None if is_filled(fleet, own) else declared.clusters
    if declared.grants and declared.grants.clusters and not (selector and is_nearer(fleet.source, own, granted)):
        return declared.grants.clusters, granted
    return (selector, own) if selector else (None, at)


def is_management(fleet: Fleet, cluster: str) -> bool:
    """Whether the cluster runs Flux for any environment."""
    return any(cluster == environment.management for environment in fleet.environments.values())


def addons_on(fleet: Fleet, cluster: str) -> dict[str, str]:
    """The add-ons of a cluster, each with the environment that has it there."""
    declared, addons = fleet.clusters[cluster], fleet.document.platform.addons
    selected = [name for name, addon in addons.items() if matches(addon.selector, cluster, declared)]
    return {name: owner for name in selected if (owner := addon_environment(fleet, name, cluster))}


def clusters_of_app(fleet: Fleet, environment: str, at: tuple[str, ...]) -> list[str]:
    """The clusters where an environment places the app or add-on at a path, in the order of the file."""
    return [cluster for name, cluster in placements_of(fleet, at) if name == environment]


def placements_of(fleet: Fleet, at: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The environments and clusters where the app or add-on at a path is placed, clusters in the order of the file."""
    barriers: dict[str, Barrier | None] = {}
    for name in clusters_taken(fleet, at):
        if at[0] == "tenants":
            for environment in fleet.clusters[name].environments:
                if environment not in barriers:
                    barriers[environment] = barrier(fleet, environment, at)
                if not barriers[environment]:
                    yield environment, name
        elif owner := addon_environment(fleet, at[-1], name):
            yield owner, name


def distinct_layers(fleet: Fleet, at: tuple[str, ...]) -> list[tuple[Layer, ...]]:
    """The layers of the app or add-on at a path, once for all placements on which the same levels of the file apply."""
    every = (app_layers(fleet, at, *placement) for placement in placements_of(fleet, at))
    return list({tuple(layer.path for layer in layers): layers for layers in every}.values())


def placements_of_tenant(fleet: Fleet, tenant: str) -> tuple[tuple[str, str], ...]:
    """The environments and clusters where any app of a tenant is placed, each once."""
    apps = (("tenants", tenant, "apps", app) for app in fleet.document.tenants[tenant].apps)
    return tuple(dict.fromkeys(placement for app in apps for placement in placements_of(fleet, app)))


# --- why ------------------------------------------------------------------------------------------------------------------


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
