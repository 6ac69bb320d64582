"""How to remove on purpose what the guard protects: commands that mark it, or what a stack permits by name.

A run with the mark announces the removal, and the one after that removes it. Until then nothing stops and nothing is deleted.
A permission names one thing, and is used up when that is gone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tenantry.guard.held import Held
from tenantry.guard.reinstalls import Reinstall
from tenantry.guard.removals import Removal
from tenantry.messages.errors import Problem, Refused, warning
from tenantry.messages.text import listed
from tenantry.model.scalars import SHARE, share_of
from tenantry.plan.objects.lifecycle import REMOVING
from tenantry.plan.plan import Plan

_SHOWN = 5
"""How many removals a message gives commands for."""
_KEEPS = f"  namespaces stay with their data; with 'offboarding' instead of '{REMOVING}' the last run deletes them"
_GONE = "  for a cluster that is gone write 'decommissioned', which leaves everything running there"


class Declared(NamedTuple):
    """The names of what the file declares.

    clusters: with the environments of each. apps: as (tenant, app); the tenant of an add-on is "".
    """

    tenants: Collection[str] = ()
    clusters: Mapping[str, Collection[str]] = MappingProxyType({})
    apps: Collection[tuple[str, str]] = ()


class Way(NamedTuple):
    """path: of the mark. where: the option that says on which clusters. stays: whether the entry stays in the file, so that its
    mark has to be taken away for it to be protected again.
    """

    path: str
    stays: bool = False
    where: str = ""

    def setting(self, value: str) -> str:
        return f"tenantry set {self.path} {value}{self.where}"


def two_runs(plan: Plan, now: Held, removals: Sequence[Removal], declared: Declared) -> str:
    """What to type, as a fix of several lines. removals: removals that no earlier run has announced."""
    ways = list(dict.fromkeys(_ways(plan, removals, now, declared)))
    shown, more = ways[:_SHOWN], len(ways) - _SHOWN
    up = f"    tenantry up -e {shlex.quote(plan.environment)}"
    left = [f"    {way.setting('null')}" for way in shown if way.stays]
    return "\n".join(
        [
            "undo this change, and announce the removal in a run of its own:",
            *(f"    {way.setting(REMOVING)}" for way in shown),
            *([f"    # and so on for {more} more"] if more > 0 else []),
            up,
            f"  then make this change again{', and take away the marks that stay in the file' if left else ''}:",
            *left,
            up,
            *([] if all(removal.what == "app" for removal in removals) else [_KEEPS]),
            *([_GONE] if any(way.path.startswith("clusters.") for way in shown) else []),
        ]
    )


def first_mark(plan: Plan, now: Held, removals: Sequence[Removal], declared: Declared) -> str:
    """The command that marks the first of some removals."""
    return next(_ways(plan, removals, now, declared)).setting(REMOVING)


def _ways(plan: Plan, removals: Sequence[Removal], now: Held, declared: Declared) -> Iterator[Way]:
    for removal in removals:
        left = [name for name in removal.clusters if plan.environment not in declared.clusters.get(name, ())]
        if removal.what == "tenant" or left:
            yield from (Way(f"clusters.{cluster}.state", cluster in declared.clusters) for cluster in left)
        if removal.what == "tenant" and removal.name not in declared.tenants:
            yield Way(f"tenants.{removal.name}.state")
        elif removal.what == "tenant":
            # Other environments keep it.
            yield from (_placement(removal.name, cluster) for cluster in removal.clusters if cluster not in left)
        elif not left:
            yield _part(removal, plan, now, declared)


def _placement(tenant: str, cluster: str) -> Way:
    return Way(f"tenants.{tenant}.state", stays=True, where=f" --clusters {cluster}")


def _part(removal: Removal, plan: Plan, now: Held, declared: Declared) -> Way:
    """An app or add-on, or a namespace of one; a placement, if its cluster keeps nothing of the tenant.

    The mark of an app is for all clusters; an app that stays somewhere goes where its author takes it off.
    """
    (cluster,) = removal.clusters
    addon = removal.name if removal.what == "app" else now.addons.get((cluster, removal.name), "NAME")
    if not removal.tenant:
        return Way(f"platform.addons.{addon}.state", stays=("", addon) in declared.apps)
    if removal.what == "app":
        at = f"tenants.{removal.tenant}.apps.{removal.name}"
        return Way(f"{at}.state", stays=(removal.tenant, removal.name) in declared.apps)
    mains = {(placement.tenant, placement.cluster): placement.namespace for placement in plan.placements}
    main = mains.get((removal.tenant, cluster))
    if main is None:
        return _placement(removal.tenant, cluster)
    return Way(f"tenants.{removal.tenant}.namespaces.{removal.name.removeprefix(f'{main}-')}.state")


# --- permissions -------------------------------------------------------------------------------------------------------

CEILING = 10
"""The greatest number that a stack may set as its `maxDeletions`: the setting stays, and permits as many in each later run."""

CEILING_SHARE = 10
"""The greatest share in percent that a stack may set."""

KEY = "tenantry:allowDeletions"
_LISTED = 20
"""How many names a message shows."""
_FORM = re.compile(r"tenant/[^/]+|(namespace|addon)/[^/]+/[^/]+|(app|reinstall)/[^/]+/[^/]+/[^/]+")


def limit_in(text: str) -> int | str | None:
    """The limit that a text says: a number, or a share such as "10%"; None: it is neither."""
    if text.isdecimal():
        return int(text)
    return text if re.fullmatch(SHARE, text) else None


def most_of(limit: int | str, total: int) -> int:
    """How many of some things a limit lets go: a number, or a share of all that are there, rounded down, but at least one."""
    return max(share_of(limit, total), int(limit not in (0, "0%")))


def checked(names: Iterable[object]) -> tuple[str, ...]:
    """The names that a stack permits. Raises: Refused: one has another form, and would never permit anything."""
    permits = tuple(map(str, names))
    for name in permits:
        if not _FORM.fullmatch(name):
            raise Refused(
                f"{KEY} names '{name}', which is nothing that a run could remove",
                "write tenant/TENANT, namespace/CLUSTER/NAMESPACE, app/CLUSTER/TENANT/APP, addon/CLUSTER/ADDON or"
                " reinstall/CLUSTER/TENANT/APP",
            )
    return permits


def permitting(items: Sequence[Removal | Reinstall], allowed: Sequence[str]) -> str:
    """How to permit what a run would do, by name, as the beginning of a fix; allowed: what the stack permits already."""
    names = [item.permit for item in items]
    if len(names) == 1:
        return f"run `pulumi config set --path '{KEY}[{len(allowed)}]' {names[0]}`"
    return f"list each under {KEY} in the stack's file ({listed(names, _LISTED)})"


def unused(items: Iterable[Removal | Reinstall], allowed: Sequence[str]) -> Iterator[Problem]:
    """A warning if permissions are left that this run does not use: they would permit an accident later."""
    going = {item.permit for item in items}
    if left := [name for name in allowed if name not in going]:
        yield warning(
            "unused-permission",
            f"{KEY} permits the removal of {listed(left)}, which this run does not remove",
            f"remove what is no longer needed: pulumi config rm --path '{KEY}[{allowed.index(left[0])}]'",
        )
