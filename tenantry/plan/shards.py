"""Parts of an environment that stacks of their own run, because one stack would be too slow.

A tenant's name alone decides its shard, so that adding or removing tenants moves no other tenant. Objects without a tenant, which
the tenants of all shards share, belong to the first shard.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tenantry.fleet.hashing import shard_of as shard_of

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` shards. index: 1 to count. Written as `2/8`."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def holds(self, tenant: str) -> bool:
        """Whether the shard's stack runs a tenant; "" stands for the objects that all tenants share."""
        return self.count == 1 or _shard(tenant, self.count) == self.index

    @property
    def in_words(self) -> str:
        return "all" if self == WHOLE else f"shard {self}"


WHOLE = Shard(1, 1)
"""The environment is not divided."""

MOST = 64
"""The greatest number of shards. Each one plans the whole environment in every run."""

_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def shard_in(text: str) -> Shard | None:
    """The shard that a text such as `2/8` names; None: it names none that can exist."""
    found = _FORM.fullmatch(text)
    shard = Shard(*map(int, found.groups())) if found else None
    return shard if shard and 1 <= shard.index <= shard.count <= MOST else None


def of_shard(plan: Plan, shard: Shard) -> Plan:
    """The part of a plan that a shard's stack registers. Dependencies on objects of other shards are left out."""
    if shard == WHOLE:
        return plan
    mine = {tenant for tenant in {each.owner.tenant for each in plan.objects} if shard.holds(tenant)}
    objects = [each for each in plan.objects if each.owner.tenant in mine]
    here = {each.id for each in objects}
    return replace(
        plan,
        objects=tuple(
            replace(each, depends_on=tuple(other for other in each.depends_on if other in here)) for each in objects
        ),
        placements=tuple(each for each in plan.placements if shard.holds(each.tenant)),
        apps=tuple(each for each in plan.apps if shard.holds(each.tenant)),
    )


def _shard(tenant: str, count: int) -> int:
    return shard_of(tenant, count) if tenant else 1
