"""Parts of an environment that stacks of their own run, because one stack would be too slow.

A tenant's name alone decides its shard, so that adding or removing tenants moves no other tenant. Objects without a tenant, which
the tenants of all shards share, belong to the first shard.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenantry.plan.hashing import shard_of as shard_of
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` shards. index: 1 to count. Written as `2/8`."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


WHOLE = Shard(1, 1)
"""The environment is not divided."""


def of_shard(plan: Plan, shard: Shard) -> Plan:
    """The part of a plan that a shard's stack registers. Dependencies on objects of other shards are left out."""
    if shard == WHOLE:
        return plan
    objects = [each for each in plan.objects if _shard(each.owner.tenant, shard.count) == shard.index]
    here = {each.id for each in objects}
    return replace(
        plan,
        objects=tuple(
            replace(each, depends_on=tuple(other for other in each.depends_on if other in here)) for each in objects
        ),
        placements=tuple(each for each in plan.placements if _shard(each.tenant, shard.count) == shard.index),
        apps=tuple(each for each in plan.apps if _shard(each.tenant, shard.count) == shard.index),
    )


def _shard(tenant: str, count: int) -> int:
    return shard_of(tenant, count) if tenant else 1
