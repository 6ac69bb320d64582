"""Which shards of an environment a change touches."""

from __future__ import annotations

from tenantry.compare.diff import Diff
from tenantry.plan.shards import Shard, shard_of


def touched(diff: Diff, count: int) -> list[Shard]:
    """The shards whose stacks have something to do, in the order in which they run.

    Protection, and another management cluster, concern every object.
    """
    if not diff:
        return []
    if diff.protects or diff.unprotected or len(set(diff.management)) > 1:
        indexes = {*range(1, count + 1)}
    else:
        objects = (*diff.removed.objects, *diff.added.objects, *(each.after for each in diff.changed))
        indexes = {shard_of(tenant, count) if tenant else 1 for tenant in {each.owner.tenant for each in objects}}
    return [Shard(index, count) for index in sorted(indexes)]
