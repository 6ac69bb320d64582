"""The shards of Flux's controllers that the objects of an environment are for. `fleet.flux_shards` decides which is whose.

Sources may be in another shard than the Kustomizations and releases that use them. A HelmChart may not be in another shard than
its source: source-controller reads both through its label selector. Here they always have the same owner, and so the same shard.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.fleet.fleet import Fleet
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
