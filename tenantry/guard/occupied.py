"""Namespaces that would be removed while Flux still has an app's objects in them.

A baseline on a remote cluster is updated before any app is deleted, because the engine deletes last. The tenant's rights in
the namespace would be removed first, and Flux could never clean up the app. On the management cluster the engine deletes the
namespace itself, after its apps. There the only problem is an app that stays and moves out in the same run: it is too late.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.guard.held import Held
from tenantry.guard.removals import planned_namespaces
from tenantry.messages.errors import Problem, error
from tenantry.plan.plan import Plan


def occupied(plan: Plan, now: Held) -> Iterator[Problem]:
    """One problem for each namespace that still contains an app."""
    leaving = now.namespaces.keys() - planned_namespaces(plan)
    found: dict[tuple[str, str, str], list[str]] = {}
    for place, app in sorted(_occupants(plan, now)):
        if place in leaving:
            found.setdefault(place, []).append(app)
    for (tenant, cluster, namespace), apps in found.items():
        listed = ", ".join(f"'{name}'" for name in apps)
        yield error(
            "occupied",
            f"namespace '{namespace}' of tenant '{tenant}' would leave {cluster} before what is installed there (app {listed}),"
            " and Flux could not clean up any more",
            "keep the namespace for one `tenantry up` in which these apps are removed or moved, and remove it when they are gone"
            " from there",
        )


def _occupants(plan: Plan, now: Held) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Namespaces and the apps in them. A placement that is removed as a whole is removed in the right order."""
    placed = {(each.tenant, each.cluster) for each in plan.placements}
    planned = {each.id for each in plan.apps}
    for id, app in now.apps.items():
        if (app.tenant, app.cluster) in placed and (app.cluster != plan.management or id in planned):
            yield from (((app.tenant, app.cluster, namespace), app.name) for namespace in app.installed)
