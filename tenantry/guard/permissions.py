"""What a stack permits a run to remove or reinstall. A permission names one thing, and is used up when that is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tenantry.guard.reinstalls import Reinstall
from tenantry.guard.removals import Removal
from tenantry.messages.errors import Problem, Refused, warning
from tenantry.messages.text import listed
from tenantry.model.scalars import SHARE, share_of

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
