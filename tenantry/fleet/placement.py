"""Which clusters of an environment an app or an add-on is placed on, and why: each cluster with what decides about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenantry.fleet.fleet import Fleet, clusters_of, matches
from tenantry.fleet.settings import selector_at, selector_of
from tenantry.fleet.trace import Origin, origin_at
from tenantry.messages.errors import Path
from tenantry.model import Cluster, Selector


@dataclass(frozen=True, slots=True)
class Placement:
    """Whether one cluster of the environment is taken, and what decides it."""

    cluster: str
    placed: bool
    reason: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Choice:
    """What a selector makes of the clusters; `elsewhere` are those of other environments, which it cannot take."""

    selector: str
    origin: Origin
    placements: tuple[Placement, ...]
    elsewhere: tuple[str, ...]

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(each.cluster for each in self.placements if each.placed)


def choice_of_app(fleet: Fleet, environment: str, tenant: str, app: str, cluster: str | None = None) -> Choice:
    """Where an app of a tenant is placed; of the named cluster alone, if there is one."""
    selector = selector_of(fleet, tenant, app)
    assert selector is not None  # a rule of the fleet
    return _choice(fleet, environment, selector, selector_at(fleet, tenant, app), cluster)


def choice_of_addon(fleet: Fleet, environment: str, addon: str, cluster: str | None = None) -> Choice:
    """The same for an add-on; it is not placed where another environment has the cluster's add-ons."""
    selector = fleet.document.platform.addons[addon].clusters
    choice = _choice(fleet, environment, selector, ("platform", "addons", addon, "clusters"), cluster)
    return replace(choice, placements=tuple(_unless_elsewhere(fleet, environment, each) for each in choice.placements))


def _unless_elsewhere(fleet: Fleet, environment: str, placement: Placement) -> Placement:
    owner = fleet.addons_owner(placement.cluster)
    if not placement.placed or owner == environment:
        return placement
    at = ("clusters", placement.cluster, "environments", 0)
    reason = f"its add-ons belong to environment {owner}"
    return Placement(placement.cluster, placed=False, reason=reason, origin=origin_at(fleet.source, at))


def _choice(fleet: Fleet, environment: str, selector: Selector, at: Path, cluster: str | None) -> Choice:
    here = clusters_of(fleet, environment)
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
