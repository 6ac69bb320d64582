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


class Declared(NamedTuple):
    """The names of what the file declares. clusters: with the environments of each."""

    tenants: Collection[str] = ()
    clusters: Mapping[str, Collection[str]] = MappingProxyType({})


def two_runs(plan: Plan, now: Held, removals: Sequence[Removal], declared: Declared) -> str:
    """What to type, as a fix of several lines. removals: removals that no earlier run has announced."""
    marks = list(dict.fromkeys(_marks(plan, removals, now, declared)))
    more = len(marks) - _SHOWN
    up = f"    tenantry up -e {shlex.quote(plan.environment)}"
    return "\n".join(
        [
            "undo this change, and announce the removal in a run of its own:",
            *(f"    tenantry set {mark}" for mark in marks[:_SHOWN]),
            *([f"    # and so on for {more} more"] if more > 0 else []),
            up,
            "  then make this change again, without a mark on what stays in the file:",
            up,
        ]
    )


def _marks(plan: Plan, removals: Sequence[Removal], now: Held, declared: Declared) -> Iterator[str]:
    """Such as: `tenants.rocky.state removing --clusters edge`"""
    for removal in removals:
        left = [name for name in removal.clusters if plan.environment not in declared.clusters.get(name, ())]
        if removal.what == "tenant" or left:
            yield from (f"clusters.{cluster}.state {REMOVING}" for cluster in left)
        if removal.what == "tenant" and removal.name not in declared.tenants:
            yield f"tenants.{removal.name}.state {REMOVING}"
        elif removal.what == "tenant":
            # Other environments keep it.
            yield from (_placement(removal.name, cluster) for cluster in removal.clusters if cluster not in left)
        elif not left:
            yield _part(removal, plan, now)


def _placement(tenant: str, cluster: str) -> str:
    return f"tenants.{tenant}.state {REMOVING} --clusters {cluster}"


def _part(removal: Removal, plan: Plan, now: Held) -> str:
    """An app or add-on, or a namespace of one; a placement, if its cluster keeps nothing of the tenant.

    The mark of an app is for all clusters; an app that stays somewhere goes where its author takes it off.
    """
    (cluster,) = removal.clusters
    if not removal.tenant:
        namespace = now.namespaces.get(("", cluster, removal.name))
        addon = removal.name if removal.what == "app" else namespace.addon if namespace else "NAME"
        return f"platform.addons.{addon}.state {REMOVING}"
    if removal.what == "app":
        return f"tenants.{removal.tenant}.apps.{removal.name}.state {REMOVING}"
    mains = {(placement.tenant, placement.cluster): placement.namespace for placement in plan.placements}
    main = mains.get((removal.tenant, cluster))
    if main is None:
        return _placement(removal.tenant, cluster)
    return f"tenants.{removal.tenant}.namespaces.{removal.name.removeprefix(f'{main}-')}.state {REMOVING}"


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
