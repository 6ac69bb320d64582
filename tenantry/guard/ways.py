"""How to remove on purpose what the guard protects: the commands of two runs.

The first run marks it in the file and on the cluster, the second removes it. Until then nothing stops and nothing is deleted.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tenantry.guard.held import Held
from tenantry.guard.removals import Removal
from tenantry.plan.objects.lifecycle import REMOVING
from tenantry.plan.plan import Plan

_SHOWN = 5
"""How many removals a message gives commands for."""
_KEEPS = f"  namespaces stay with their data; with 'offboarding' instead of '{REMOVING}' the last run deletes them"
_GONE = "  for a cluster that is gone write 'decommissioned', which leaves everything running there"
_CASCADE = "  --cascade removes the references to the cluster too, where that changes nothing else"


class Declared(NamedTuple):
    """The names of what the file declares.

    clusters: with the environments of each. apps: as (tenant, app); the tenant of an add-on is "".
    """

    tenants: Collection[str] = ()
    clusters: Mapping[str, Collection[str]] = MappingProxyType({})
    apps: Collection[tuple[str, str]] = ()


class Way(NamedTuple):
    """How one thing goes. path: of the entry that is marked; there: the option that says on which clusters.

    remove: the command that removes exactly this; "": only its author knows how. unmark: the command that takes the mark away, if
    the entry can stay without what goes.
    """

    path: str
    remove: str = ""
    unmark: str = ""
    there: str = ""


def two_runs(plan: Plan, now: Held, removals: Sequence[Removal], declared: Declared) -> str:
    """What to type, as a fix of several lines. removals: removals that no earlier run has announced."""
    ways = list(dict.fromkeys(_ways(plan, removals, now, declared)))
    shown, more = ways[:_SHOWN], len(ways) - _SHOWN
    rest = [f"    # and so on for {more} more"] if more > 0 else []
    up = f"tenantry up -e {shlex.quote(plan.environment)}"
    known = all(way.remove for way in ways)
    keeps = [] if all(removal.what == "app" for removal in removals) else [_KEEPS]
    clusters_go = any(way.remove.endswith(" --cascade") for way in shown)
    keeps += ([_CASCADE] if known else []) + [_GONE] if clusters_go else []
    beside = _beside(plan, now, removals) if known else ""
    return "\n".join(
        [
            f"undo this change{f', {beside}, run `{up}`' if beside else ''}, and announce the removal in a run of its own:",
            *(f"    tenantry set {way.path} {REMOVING}{way.there}" for way in shown),
            *rest,
            f"    {up}",
            f"  then {_again(known=known, replaced=bool(beside))}:",
            *(f"    {command}" for way in shown for command in (way.remove if known else way.unmark,) if command),
            *rest,
            f"    {up}",
            *keeps,
        ]
    )


def _again(*, known: bool, replaced: bool) -> str:
    """How the second run begins. A mark that would stay is taken away, so that what stays is protected again."""
    if not known:
        return "make this change again, and type"
    if replaced:
        return "type"
    return "make this change again, or type"


def _beside(plan: Plan, now: Held, removals: Sequence[Removal]) -> str:
    """What to add first, if something new takes the place of what goes: a tenant, an app or an add-on of another name."""
    for removal in removals:
        if removal.what == "tenant":
            before = {tenant for tenant, _, _ in now.namespaces} | {app.tenant for app in now.apps.values()}
            new = {placement.tenant for placement in plan.placements if placement.cluster in removal.clusters} - before
        elif removal.what == "app":
            before = {app.name for app in now.apps.values() if app.tenant == removal.tenant}
            new = {
                app.name for app in plan.apps if app.tenant == removal.tenant and app.cluster in removal.clusters
            } - before
        else:
            continue
        if len(new) == 1:
            return f"add '{new.pop()}' beside '{removal.name}'"
    return ""


def first_mark(plan: Plan, now: Held, removals: Sequence[Removal], declared: Declared) -> str:
    """The command that marks the first of some removals."""
    way = next(_ways(plan, removals, now, declared))
    return f"tenantry set {way.path} {REMOVING}{way.there}"


def _ways(plan: Plan, removals: Sequence[Removal], now: Held, declared: Declared) -> Iterator[Way]:
    for removal in removals:
        left = [name for name in removal.clusters if plan.environment not in declared.clusters.get(name, ())]
        if left and removal.what != "tenant":
            yield from (_cluster(cluster, declared) for cluster in left)
        elif removal.what == "tenant":
            yield from _tenant(removal, left, declared)
        elif removal.what == "app":
            yield _app(removal, declared)
        else:
            yield _namespace(removal, plan, now, declared)


def _marked(at: str, remove: str, *, stays: bool) -> Way:
    """The way of an entry. stays: the file declares it still, so that its removal would take more than what goes."""
    return Way(f"{at}.state", unmark=f"tenantry set {at}.state null") if stays else Way(f"{at}.state", remove)


def _cluster(name: str, declared: Declared) -> Way:
    return _marked(f"clusters.{name}", f"tenantry remove cluster {name} --cascade", stays=name in declared.clusters)


def _placement(tenant: str, cluster: str) -> Way:
    """A tenant on one cluster. Its author knows which selectors take the cluster."""
    path, there = f"tenants.{tenant}.state", f" --clusters {cluster}"
    return Way(path, unmark=f"tenantry set {path} null{there}", there=there)


def _tenant(removal: Removal, left: Sequence[str], declared: Declared) -> Iterator[Way]:
    """A tenant that leaves the environment. If other environments keep it, only its clusters here are marked.

    left: clusters that leave the environment themselves.
    """
    yield from (_cluster(cluster, declared) for cluster in left)
    if removal.name not in declared.tenants:
        yield _marked(f"tenants.{removal.name}", f"tenantry remove tenant {removal.name}", stays=False)
        return
    for cluster in removal.clusters:
        if cluster not in left:
            yield _placement(removal.name, cluster)


def _app(removal: Removal, declared: Declared) -> Way:
    """An app or add-on. Its mark is for all clusters; an app that stays somewhere goes where its author takes it off."""
    at = f"tenants.{removal.tenant}.apps.{removal.name}" if removal.tenant else f"platform.addons.{removal.name}"
    remove = f"tenantry remove {f'app {removal.tenant}/' if removal.tenant else 'addon '}{removal.name}"
    return _marked(at, remove, stays=(removal.tenant, removal.name) in declared.apps)


def _namespace(removal: Removal, plan: Plan, now: Held, declared: Declared) -> Way:
    """A placement, if its cluster keeps nothing of the tenant; otherwise one namespace of it, or of an add-on."""
    (cluster,) = removal.clusters
    if not removal.tenant:
        if (addon := now.addons.get((cluster, removal.name))) is None:
            return Way("platform.addons.NAME.state")
        return _marked(f"platform.addons.{addon}", f"tenantry remove addon {addon}", stays=("", addon) in declared.apps)
    mains = {(placement.tenant, placement.cluster): placement.namespace for placement in plan.placements}
    main = mains.get((removal.tenant, cluster))
    if main is None:
        return _placement(removal.tenant, cluster)
    entry = f"tenants.{removal.tenant}.namespaces.{removal.name.removeprefix(f'{main}-')}"
    return Way(f"{entry}.state", f"tenantry set {entry} null")
