"""Which environments a tenant, an app or an add-on is in, and what keeps it out of the others.

Called by: placement and rules. Clusters do not matter here.
Never: reports mistakes; an environment that is not declared is one that nothing names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.grants.grants import grant_at, grants_of, is_filled
from tenantry.messages.errors import Path


class Barrier(NamedTuple):
    """What keeps something out of an environment, in words, and the place that says so."""

    reason: str
    at: Path


def reaches(fleet: Fleet, names: Iterable[str], environment: str) -> bool:
    """Whether a list names an environment, or one that it extends."""
    return not set(names).isdisjoint(fleet.lineage(environment))


def barrier(fleet: Fleet, environment: str, at: tuple[str, ...]) -> Barrier | None:
    """What keeps the app or add-on at a path out of an environment."""
    if at[0] == "platform":
        return addon_barrier(fleet, environment, at[-1])
    return app_barrier(fleet, environment, at[1], at[-1])


def app_barrier(fleet: Fleet, environment: str, tenant: str, app: str) -> Barrier | None:
    """What keeps an app out of an environment. The app's list replaces the tenant's, unless an included file wrote it."""
    at = ("tenants", tenant, "apps", app)
    own = fleet.document.tenants[tenant].apps[app].environments
    if own is None:
        return tenant_barrier(fleet, environment, tenant)
    above = tenant_barrier if is_filled(fleet, at) else frame_barrier
    return _listed(fleet, environment, at, own) or above(fleet, environment, tenant)


def tenant_barrier(fleet: Fleet, environment: str, tenant: str) -> Barrier | None:
    """What keeps the apps of a tenant out of an environment, unless they have lists of their own."""
    listed = _listed(fleet, environment, ("tenants", tenant), fleet.document.tenants[tenant].environments)
    return listed or frame_barrier(fleet, environment, tenant)


def frame_barrier(fleet: Fleet, environment: str, tenant: str) -> Barrier | None:
    """What keeps a tenant out of an environment, whatever it says itself: the environment, or a missing grant."""
    declared = fleet.environments.get(environment)
    if declared and declared.tenants is not None and tenant not in declared.tenants:
        return Barrier(f"environment {environment}: not in 'tenants'", fleet.said_at(environment, "tenants"))
    grants = grants_of(fleet, tenant)
    if grants is None or grants.environments is None or reaches(fleet, grants.environments, environment):
        return None
    return Barrier(f"environment {environment} is not granted", grant_at(fleet, tenant, "environments"))


def addon_barrier(fleet: Fleet, environment: str, addon: str) -> Barrier | None:
    """What keeps an add-on out of an environment."""
    at = ("platform", "addons", addon)
    return _listed(fleet, environment, at, fleet.document.platform.addons[addon].environments)


def by_rank(fleet: Fleet, cluster: str) -> list[str]:
    """The environments of a cluster, in the order in which they come to have what the cluster has once.

    Those of a few tenants are last: what a release environment had would go with the release.
    """
    return sorted(fleet.clusters[cluster].environments, key=lambda each: _is_of_few(fleet, each))


def addon_environments(fleet: Fleet, addon: str, cluster: str) -> list[str]:
    """The environments that have an add-on on a cluster, if the add-on is there: one, unless each has its own."""
    admitted = [each for each in by_rank(fleet, cluster) if not addon_barrier(fleet, each, addon)]
    if fleet.document.platform.addons[addon].scope == "cluster":
        return admitted[:1]
    return [each for each in admitted if not _is_of_few(fleet, each)] or admitted


def addon_environment(fleet: Fleet, addon: str, cluster: str) -> str | None:
    """The first environment that has an add-on on a cluster, if the add-on is there; None: no environment there admits it."""
    return next(iter(addon_environments(fleet, addon, cluster)), None)


def _is_of_few(fleet: Fleet, environment: str) -> bool:
    declared = fleet.environments.get(environment)
    return declared is not None and declared.tenants is not None


def _listed(fleet: Fleet, environment: str, at: tuple[str, ...], names: list[str] | None) -> Barrier | None:
    if names is None or reaches(fleet, names, environment):
        return None
    return Barrier(f"environment {environment}: not in 'environments'", (*at, "environments"))
