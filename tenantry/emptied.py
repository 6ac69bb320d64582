"""When a change takes all there is: no limit is wide enough for that, because few tenants are no reason to lose all of them."""

from __future__ import annotations

from collections.abc import Iterable


def emptied(before: Iterable[tuple[str, str, str]], after: Iterable[tuple[str, str, str]]) -> str:
    """What an environment has nothing left of: "every tenant", "every namespace" of tenants that stay, or "".

    Namespaces are given as (tenant, cluster, name).
    """
    before, after = set(before), set(after)
    if not after:
        return "every tenant" if before else ""
    staying = {tenant for tenant, _, _ in after}
    theirs = {each for each in before if each[0] in staying}
    return "every namespace" if theirs and theirs.isdisjoint(after) else ""
