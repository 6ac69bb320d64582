"""Which clusters an app or an add-on is placed on, and why.

Called by: the plan, the rules about selectors, and `explain`, so that all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.grants import grant_at, grants_of, is_filled
from tenantry.fleet.trace import Origin, origin_at
from tenantry.messages.errors import Path
from tenantry.model import Cluster, Selector


def matches(selector: Selector, name: str, cluster: Cluster) -> bool:
    """Whether a selector takes a cluster, whatever the environment."""
    if name in selector.exclude:
        return False
    if selector.names is not None:
        return name in selector.names
    if selector.labels is not None:
        return selector.labels.items() <= cluster.labels.items()
    return True


def selector_of(fleet: Fleet, tenant: str, app: str) -> Selector | None:
    """The nearest selector: the app's, the tenant's, the defaults'."""
    declared = fleet.document.tenants[tenant]
    return declared.apps[app].clusters or declared.clusters or fleet.document.defaults.clusters


def apps_on(fleet: Fleet, tenant: str, cluster: str) -> list[str]:
    """The tenant's apps whose selectors take a cluster, whatever the environment."""
    return [app for app in fleet.document.tenants[tenant].apps if _takes(fleet, tenant, app, cluster)]


def is_taken(fleet: Fleet, tenant: str, app: str) -> bool:
    """Whether an app is placed on any cluster, whatever the environment."""
    return any(_takes(fleet, tenant, app, name) for name in fleet.clusters)


def _takes(fleet: Fleet, tenant: str, app: str, cluster: str) -> bool:
    selector = selector_of(fleet, tenant, app)
    if not (selector and matches(selector, cluster, fleet.clusters[cluster])):
        return False
    return not is_restricted(fleet, tenant, app) or cluster_is_granted(fleet, tenant, cluster)


def is_restricted(fleet: Fleet, tenant: str, app: str) -> bool:
    """Whether an included file chooses the app's clusters, so that only granted ones count."""
    return is_filled(fleet, ("tenants", tenant, "apps", app)) or is_filled(fleet, selector_at(fleet, tenant, app))


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
    for level in (("tenants", tenant), ("defaults",)):
        settings = fleet.document.tenants[tenant] if level[0] == "tenants" else fleet.document.defaults
        if settings.grants and settings.grants.clusters:
            return settings.grants.clusters, (*level, "grants", "clusters")
        if settings.clusters and not is_filled(fleet, (*level, "clusters")):
            return settings.clusters, (*level, "clusters")
    return None, ("tenants", tenant)


def is_management(fleet: Fleet, cluster: str) -> bool:
    """Whether the cluster runs Flux for any environment."""
    return any(each.management == cluster for each in fleet.environments.values())


def environment_is_granted(fleet: Fleet, tenant: str, environment: str) -> bool:
    """Whether the tenant may be in an environment, itself or by one that it extends."""
    grants = grants_of(fleet, tenant)
    return (
        grants is None
        or grants.environments is None
        or not set(grants.environments).isdisjoint(fleet.lineage(environment))
    )


def selector_at(fleet: Fleet, tenant: str, app: str) -> Path:
    """Where the nearest selector stands."""
    declared = fleet.document.tenants[tenant]
    if declared.apps[app].clusters:
        return ("tenants", tenant, "apps", app, "clusters")
    return ("tenants", tenant, "clusters") if declared.clusters else ("defaults", "clusters")


def addons_on(fleet: Fleet, cluster: str) -> list[str]:
    """The add-ons whose selectors take a cluster, whatever the environment."""
    declared = fleet.clusters[cluster]
    return [name for name, each in fleet.document.platform.addons.items() if matches(each.clusters, cluster, declared)]


def clusters_of_app(fleet: Fleet, environment: str, at: tuple[str, ...]) -> list[str]:
    """The clusters where an environment places the app or add-on at a path, in the order of the file."""
    return [cluster for each, cluster in placements_of(fleet, at) if each == environment]


def placements_of(fleet: Fleet, at: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The environments and clusters where the app or add-on at a path is placed, clusters in the order of the file."""
    if at[0] == "platform":
        # Only one environment of a cluster has its add-ons.
        selector = fleet.document.platform.addons[at[-1]].clusters
        yield from (
            (fleet.addons_owner(name), name) for name in fleet.clusters if matches(selector, name, fleet.clusters[name])
        )
        return
    for name, cluster in fleet.clusters.items():
        if _takes(fleet, at[1], at[-1], name):
            yield from ((each, name) for each in cluster.environments if environment_is_granted(fleet, at[1], each))


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
        return tuple(each.cluster for each in self.decisions if each.placed)


def choice_of_app(fleet: Fleet, environment: str, tenant: str, app: str, cluster: str | None = None) -> Choice:
    """Where an app of a tenant is placed; of the named cluster alone, if there is one."""
    selector = selector_of(fleet, tenant, app)
    assert selector is not None  # a rule of the fleet
    choice = _choice(fleet, environment, selector, selector_at(fleet, tenant, app), cluster)
    return replace(
        choice, decisions=tuple(_if_granted(fleet, environment, tenant, app, each) for each in choice.decisions)
    )


def _if_granted(fleet: Fleet, environment: str, tenant: str, app: str, decision: Decision) -> Decision:
    """The decision, unless the main file does not grant the cluster or the environment to the tenant's included file."""
    if not decision.placed:
        return decision
    if not environment_is_granted(fleet, tenant, environment):
        at, what = grant_at(fleet, tenant, "environments"), f"environment {environment}"
    elif is_restricted(fleet, tenant, app) and not cluster_is_granted(fleet, tenant, decision.cluster):
        at, what = granted_selector(fleet, tenant)[1], "it"
    else:
        return decision
    return replace(decision, placed=False, reason=f"{what} is not granted", origin=origin_at(fleet.source, at))


def choice_of_grant(fleet: Fleet, environment: str, tenant: str) -> Choice | None:
    """Which clusters the tenant's included file can select; None if the main file selects none to choose from."""
    selector, at = granted_selector(fleet, tenant)
    if selector is None:
        return None
    choice = _choice(fleet, environment, selector, at, None)
    return replace(choice, decisions=tuple(_if_choosable(fleet, tenant, each) for each in choice.decisions))


def _if_choosable(fleet: Fleet, tenant: str, decision: Decision) -> Decision:
    if decision.placed == cluster_is_granted(fleet, tenant, decision.cluster):
        return decision
    return replace(decision, placed=False, reason="a management cluster; 'all' does not include it")


def choice_of_addon(fleet: Fleet, environment: str, addon: str, cluster: str | None = None) -> Choice:
    """The same for an add-on; it is not placed where another environment has the cluster's add-ons."""
    selector = fleet.document.platform.addons[addon].clusters
    choice = _choice(fleet, environment, selector, ("platform", "addons", addon, "clusters"), cluster)
    return replace(choice, decisions=tuple(_unless_elsewhere(fleet, environment, each) for each in choice.decisions))


def _unless_elsewhere(fleet: Fleet, environment: str, decision: Decision) -> Decision:
    owner = fleet.addons_owner(decision.cluster)
    if not decision.placed or owner == environment:
        return decision
    at = ("clusters", decision.cluster, "environments", 0)
    reason = f"its add-ons belong to environment {owner}"
    return Decision(decision.cluster, placed=False, reason=reason, origin=origin_at(fleet.source, at))


def _choice(fleet: Fleet, environment: str, selector: Selector, at: Path, cluster: str | None) -> Choice:
    here = clusters_of(fleet, environment)
    return Choice(
        _in_words(selector),
        origin_at(fleet.source, at),
        tuple(_decision(fleet, selector, at, name) for name in here if cluster in (None, name)),
        tuple(name for name in fleet.clusters if name not in here and cluster in (None, name)),
    )


def _decision(fleet: Fleet, selector: Selector, at: Path, name: str) -> Decision:
    declared = fleet.clusters[name]
    reason, why = _reason(selector, at, name, declared)
    return Decision(name, matches(selector, name, declared), reason, origin_at(fleet.source, why))


def _reason(selector: Selector, at: Path, name: str, cluster: Cluster) -> tuple[str, Path]:
    """The selector that decides about a cluster, and its place in the document."""
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
