"""What differs beside the objects themselves: places of tenants and apps, rollouts, and what the main file grants.

Everything in an old place is deleted. `kept` says whether the environment keeps a management cluster: on another one, every object
is another object. Grants and rollouts change no object by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import cluster_is_granted, tenant_barrier
from tenantry.grants.authors import is_own
from tenantry.grants.grants import grants_of, is_covered
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.waves import Rollout


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
    return [
        Place(placement.tenant, placement.cluster, namespace)
        for placement in plan.placements
        for namespace in placement.namespaces
    ]


def key_of(app: PlannedApp) -> tuple[str, str, str]:
    """What stays the same when the app's object gets another name or namespace."""
    return (app.tenant, app.cluster, app.name)


def replaced_apps(before: Plan, after: Plan, *, kept: bool) -> tuple[Replaced, ...]:
    """Apps that both plans have on the same cluster, as different objects."""
    new = {key_of(app): app for app in after.apps}
    pairs = (Replaced(app, new[key_of(app)]) for app in before.apps if key_of(app) in new)
    return tuple(pair for pair in pairs if not kept or pair.before.id != pair.after.id)


def rehomed_clusters(after: Plan, replaced: Iterable[Replaced]) -> tuple[Rehomed, ...]:
    """Clusters whose objects moved to another namespace. On the management cluster, tenants' namespaces hold them."""
    found: dict[str, Rehomed] = {}
    for one, other in replaced:
        if one.cluster not in (*found, after.management) and one.id.namespace != other.id.namespace:
            found[one.cluster] = Rehomed(one.cluster, one.id.namespace, other.id.namespace)
    return tuple(found.values())


def recreated_namespaces(before: Plan, after: Plan, rehomed: Iterable[Rehomed], *, kept: bool) -> tuple[Place, ...]:
    """Namespaces that are deleted and created again with the same name, because their cluster's objects moved."""
    there, clusters = set(places_of(after)), {each.cluster for each in rehomed}
    return tuple(place for place in places_of(before) if place in there and (not kept or place.cluster in clusters))


def moved_tenants(before: Plan, after: Plan) -> tuple[Moved, ...]:
    """Tenants whose main namespace was renamed, once for each cluster."""
    new = {(placement.tenant, placement.cluster): placement.namespace for placement in after.placements}
    return tuple(
        Moved(each.tenant, each.cluster, each.namespace, there)
        for each in before.placements
        if (there := new.get((each.tenant, each.cluster), each.namespace)) != each.namespace
    )


Side: TypeAlias = Rollout | Literal[False] | None
"""An environment's rollout in one of two plans, or an app's. False: the app keeps out of the waves. None: there is none, so an app
follows the environment's."""


class ChangedRollout(NamedTuple):
    """A rollout that differs. app: the full name of the app that keeps out of the waves; "": it is the environment's."""

    app: str
    before: Side
    after: Side


def changed_rollouts(before: Plan, after: Plan) -> Iterator[ChangedRollout]:
    """Those with other waves or limits, with a cluster in another wave, or switched off or on for an app.

    A new cluster alone is no difference, and neither is an app without waves that is removed.
    """
    old, new = _by_name(before), _by_name(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        is_gone = was is False and now is None and not (after.rollout and name in _names(after))
        if _differs(was, now) and not is_gone:
            yield ChangedRollout(name, was, now)


def _by_name(plan: Plan) -> dict[str, Side]:
    found: dict[str, Side] = {"": plan.rollout} if plan.rollout else {}
    if plan.off:
        found |= dict.fromkeys((name for name in _names(plan) if name in plan.off), False)
    return found


def _names(plan: Plan) -> dict[str, None]:
    """The full names of the apps of a plan, each once."""
    return dict.fromkeys(app.full_name for app in plan.apps)


def _differs(before: Side, after: Side) -> bool:
    if not before or not after:
        return before is not after
    if _limits(before) != _limits(after):
        return True
    was = {name: wave.number for wave in before.waves for name in wave.every}
    return any(was.get(name, wave.number) != wave.number for wave in after.waves for name in wave.every)


def _limits(rollout: Rollout) -> tuple[object, ...]:
    waves = tuple((wave.name, wave.tolerate.written) for wave in rollout.waves)
    return rollout.timeout, waves


_ADDRESSES = ("sources", "alerts")
_NAMES = ("clusters", "settings")


class Widened(NamedTuple):
    """A tenant that is granted more. gains: what is new, by the key of the grant."""

    tenant: str
    gains: tuple[tuple[str, tuple[str, ...]], ...]


def widened(before: Fleet, after: Fleet, environment: str) -> tuple[Widened, ...]:
    """The tenants of both fleets that are granted more in an environment that both declare."""
    there = before.document.tenants
    found = (
        Widened(
            tenant,
            (
                *_gains(_granted(before, tenant, environment), _granted(after, tenant, environment)),
                *_given_away(before, after, tenant),
            ),
        )
        for tenant in after.document.tenants
        if tenant in there
    )
    return tuple(each for each in found if each.gains)


def _given_away(before: Fleet, after: Fleet, tenant: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Credentials that were the main file's. The included file declares them now, so it may use them for everything."""
    key = "credentials"
    names = (name for name in after.raw("tenants", tenant, key) if not is_own(before, tenant, key, name))
    if given := tuple(name for name in names if is_own(after, tenant, key, name)):
        yield key, given


def _granted(fleet: Fleet, tenant: str, environment: str) -> dict[str, tuple[str, ...]]:
    """What is granted in one environment, by the key of the grant."""
    grants = grants_of(fleet, tenant)
    if grants is None or tenant_barrier(fleet, environment, tenant):
        return {key: () for key in (*_NAMES, *_ADDRESSES)}
    here = clusters_of(fleet, environment)
    return {
        "clusters": tuple(each for each in here if cluster_is_granted(fleet, tenant, each)),
        **{key: tuple(getattr(grants, key) or ()) for key in ("settings", *_ADDRESSES)},
    }


def _gains(
    before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in _NAMES:
        if new := tuple(name for name in after[key] if name not in before[key]):
            yield key, new
    for key in _ADDRESSES:
        known = before[key]
        if new := tuple(each for each in after[key] if not is_covered(each, known)):
            yield key, new
