"""The shards of Flux's controllers that objects are for, as `shard` of their tenant or cluster."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.importing.inference.world import Notes, Thing
from tenantry.kube.names import label_value_problem
from tenantry.messages.errors import Path
from tenantry.messages.text import listed
from tenantry.plan.objects.scope import SHARD_LABEL


def own_shard(things: Iterable[Thing]) -> dict[str, str]:
    """`shard` of a tenant all of whose apps are for one shard."""
    found = _shards(things)
    return {"shard": found[0]} if len(found) == 1 and found[0] else {}


def shard_of_cluster(path: Path, things: Iterable[Thing], notes: Notes) -> dict[str, str]:
    """`shard` of the cluster at a path. things: the apps there of the platform, and of tenants without a shard of their own."""
    found = _shards(things)
    if len(found) > 1:
        shards = listed(each or "none" for each in found)
        text = f"decide: apps on this cluster are for different shards of Flux's controllers, {shards}: see 'shard'"
        notes.decide(path, text)
    return own_shard(things)


def _shards(things: Iterable[Thing]) -> list[str]:
    return sorted({_shard(each) for each in things})


def _shard(thing: Thing) -> str:
    value = thing.labels.get(SHARD_LABEL)
    return value if isinstance(value, str) and label_value_problem(value) is None else ""
