"""The shards of Flux's controllers that the objects of an environment are for. `fleet.flux_shards` decides which is whose.

Sources may be in another shard than the Kustomizations and releases that use them. A HelmChart may not be in another shard than
its source: source-controller reads both through its label selector. Here they always have the same owner, and so the same shard.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.hashing import key_of
from tenantry.kube.objects import KubeObject, ObjectId, labels_of
from tenantry.plan.objects.scope import SHARD_LABEL, SHARDED


def used_shards(objects: Iterable[KubeObject]) -> dict[str, dict[str, list[ObjectId]]]:
    """The objects that Flux's controllers reconcile in shards: by shard, "" for none, then by kind."""
    used: dict[str, dict[str, list[ObjectId]]] = {}
    for each in objects:
        if each.id.kind in SHARDED:
            shard = labels_of(each.manifest).get(SHARD_LABEL, "")
            used.setdefault(shard, {}).setdefault(each.id.kind, []).append(each.id)
    return used


def flux_shards(fleet: Fleet, environment: str, objects: Iterable[KubeObject]) -> tuple[str, ...]:
    """The shards that an environment lists, then those that its objects are for."""
    declared = fleet.environments[environment]
    named = (*(declared.fluxShards or ()), *declared.dedicatedFluxShards, *used_shards(objects))
    return tuple(dict.fromkeys(filter(None, named)))


def shard_of(name: str, count: int) -> int:
    """The shard that the hash of a name chooses: 1 to count.

    When the count grows, names move to new shards only, and no more of them than needed.
    Source: J. Lamping, E. Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014.
    """
    key = key_of(name)
    bucket, step = -1, 0
    while step < count:
        bucket = step
        key = (key * 2862933555777941757 + 1) & 0xFFFF_FFFF_FFFF_FFFF
        step = int((bucket + 1) * ((1 << 31) / ((key >> 33) + 1)))
    return bucket + 1
