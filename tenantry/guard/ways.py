"""How to remove on purpose what the guard protects: the commands of two runs.

The first run marks it in the file and on the cluster, the second removes it. Until then nothing stops and nothing is deleted.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from tenantry.guard.held import Held
from tenantry.guard.removals import Removal
from tenantry.plan.objects.lifecycle import REMOVING
from tenantry.plan.plan import Plan

_SHOWN = 5
"""How many removals a message gives commands for."""
_KEEPS = f"  namespaces stay with their data; with 'offboarding' instead of '{REMOVING}' the last run deletes them"
_GONE = "  for a cluster that is gone write 'decommissioned', which leaves everything running there"


class Declared(NamedTuple):
    """The names of what the file declares."""

    tenants: Collection[str] = ()
    clusters: Collection[str] = ()


class Way(NamedTuple):
    """How one thing goes. path: of the entry that is marked. remove: the command that removes it; "": only its author knows it.

    unmark: the command that takes the mark away, if the entry stays without it.
    """

    path: str
    remove: str = ""
    unmark: str = ""


def two_runs(plan: Plan, now: Held, found: Sequence[Removal], declared: Declared) -> str:
    """What to type, as a fix of several lines. found: removals that no earlier run has announced."""
    ways = list(dict.fromkeys(_ways(plan, now, found, declared)))
    shown, more = ways[:_SHOWN], len(ways) - _SHOWN
    rest = [f"    # and so on for {more} more"] if more > 0 else []
    up = f"    tenantry up -e {shlex.quote(plan.environment)}"
    known = all(way.remove for way in shown)
    keeps = [] if all(each.what == "app" for each in found) else [_KEEPS]
    keeps += [_GONE] if any(way.path.startswith("clusters.") for way in shown) else []
    return "\n".join(
        [
            "undo this change, and announce the removal in a run of its own:",
            *(f"    tenantry set {way.path} {REMOVING}" for way in shown),
            *rest,
            up,
            f"  then make this change again{', or type' if known else ', and type'}:",
            *(f"    {command}" for way in shown for command in (way.remove if known else way.unmark,) if command),
            *rest,
            up,
            *keeps,
        ]
    )


def first_mark(plan: Plan, now: Held, found: Sequence[Removal], declared: Declared) -> str:
    """The command that marks the first of some removals."""
    way = next(_ways(plan, now, found, declared))
    return f"tenantry set {way.path} {REMOVING}"


def _ways(plan: Plan, now: Held, found: Sequence[Removal], declared: Declared) -> Iterator[Way]:
    for each in found:
        gone = [cluster for cluster in each.clusters if cluster not in declared.clusters]
        if gone and each.what != "tenant":
            yield from (_cluster(cluster) for cluster in gone)
        elif each.what == "tenant":
            yield from _tenant(each, gone, declared)
        elif each.what == "app":
            yield _app(each, now, found)
        else:
            yield _namespace(each, plan, now)


def _cluster(name: str) -> Way:
    return Way(f"clusters.{name}.state", f"tenantry remove cluster {name} --cascade")


def _placement(tenant: str, cluster: str) -> Way:
    path = f"tenants.{tenant}.overrides.clusters.{cluster}.state"
    return Way(path, f"tenantry remove placement {tenant} {cluster}")


def _tenant(each: Removal, gone: Sequence[str], declared: Declared) -> Iterator[Way]:
    """A tenant that leaves the environment. If other environments keep it, only its clusters here are marked."""
    yield from map(_cluster, gone)
    if each.name not in declared.tenants:
        yield Way(f"tenants.{each.name}.state", f"tenantry remove tenant {each.name}")
        return
    for cluster in each.clusters:
        if cluster not in gone:
            yield _placement(each.name, cluster)


def _app(each: Removal, now: Held, found: Sequence[Removal]) -> Way:
    """An app or add-on. Its mark is for all clusters; it goes where the author takes it off."""
    at = f"tenants.{each.tenant}.apps.{each.name}" if each.tenant else f"platform.addons.{each.name}"
    there = {app.cluster for app in now.apps.values() if (app.tenant, app.name) == (each.tenant, each.name)}
    going = {one.clusters[0] for one in found if (one.what, one.tenant, one.name) == ("app", each.tenant, each.name)}
    if there <= going:
        return Way(f"{at}.state", f"tenantry remove {f'app {each.tenant}/' if each.tenant else 'addon '}{each.name}")
    return Way(f"{at}.state", unmark=f"tenantry unset {at}.state")


def _namespace(each: Removal, plan: Plan, now: Held) -> Way:
    """A placement, if its cluster keeps nothing of the tenant; otherwise one namespace of it, or of an add-on."""
    (cluster,) = each.clusters
    if not each.tenant:
        return Way(f"platform.addons.{now.addons.get((cluster, each.name), 'NAME')}.state")
    main = next((one.namespace for one in plan.placements if (one.tenant, one.cluster) == (each.tenant, cluster)), None)
    if main is None:
        return _placement(each.tenant, cluster)
    key = each.name.removeprefix(f"{main}-")
    return Way(
        f"tenants.{each.tenant}.namespaces.{key}.state", f"tenantry unset tenants.{each.tenant}.namespaces.{key}"
    )
