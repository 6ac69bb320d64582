"""What both plans have, but in another place: other namespaces, or another object for the same app.

Everything in the old place is deleted. `kept` says whether the management cluster is the same: on another one, every object is
another object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


class Place(NamedTuple):
    """A namespace of a tenant on a cluster."""

    tenant: str
    cluster: str
    namespace: str


class Moved(NamedTuple):
    """A tenant whose main namespace on a cluster has another name."""

    tenant: str
    cluster: str
    before: str
    after: str


class Rehomed(NamedTuple):
    """A remote cluster whose Flux objects lie in another namespace than before."""

    cluster: str
    before: str
    after: str


class Replaced(NamedTuple):
    """An app that stays on its cluster, but whose object there is another one."""

    before: PlannedApp
    after: PlannedApp


def places_of(plan: Plan) -> list[Place]:
    """All namespaces of all tenants."""
    return [Place(each.tenant, each.cluster, namespace) for each in plan.placements for namespace in each.namespaces]


def key_of(app: PlannedApp) -> tuple[str, str, str]:
    """What stays the same when the app's object gets another name or namespace."""
    return (app.tenant, app.cluster, app.name)


def replaced_apps(before: Plan, after: Plan, *, kept: bool) -> tuple[Replaced, ...]:
    """Apps that both plans have on the same cluster, as different objects."""
    new = {key_of(app): app for app in after.apps}
    pairs = (Replaced(app, new[key_of(app)]) for app in before.apps if key_of(app) in new)
    return tuple(pair for pair in pairs if not kept or pair.before.id != pair.after.id)


def rehomed_clusters(replaced: Iterable[Replaced], management: str) -> tuple[Rehomed, ...]:
    """Clusters whose objects moved to another namespace. On the management cluster, tenants' namespaces hold them."""
    found = {
        one.cluster: Rehomed(one.cluster, one.id.namespace, other.id.namespace)
        for one, other in replaced
        if one.cluster != management and one.id.namespace != other.id.namespace
    }
    return tuple(found.values())


def recreated_namespaces(before: Plan, after: Plan, rehomed: Iterable[Rehomed], *, kept: bool) -> tuple[Place, ...]:
    """Namespaces that are deleted and created again with the same name, because their cluster's objects moved."""
    there, clusters = set(places_of(after)), {each.cluster for each in rehomed}
    return tuple(each for each in places_of(before) if each in there and (not kept or each.cluster in clusters))


def moved_tenants(before: Plan, after: Plan) -> tuple[Moved, ...]:
    """Tenants whose main namespace was renamed, once for each cluster."""
    new = {(each.tenant, each.cluster): each.namespace for each in after.placements}
    return tuple(
        Moved(each.tenant, each.cluster, each.namespace, there)
        for each in before.placements
        if (there := new.get((each.tenant, each.cluster), each.namespace)) != each.namespace
    )
