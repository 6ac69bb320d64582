"""The shard of Flux's controllers that reconciles the Flux objects of a placement, and of the platform on a cluster.

Sources may be in another shard than the Kustomizations and releases that use them. A HelmChart may not be in another shard than
its source: source-controller reads both through its label selector. Here they always have the same owner, and so the same shard.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.hashing import key_of
from tenantry.kube.objects import KubeObject, ObjectId, labels_of
from tenantry.messages.errors import Path
from tenantry.plan.objects.scope import SHARD_LABEL, SHARDED


class FluxShard(NamedTuple):
    """A shard, the place in the file that decides it, and what is written there if that is a list."""

    name: str
    at: Path
    written: list[str] | None = None


def flux_shard(fleet: Fleet, environment: str, tenant: str, cluster: str) -> FluxShard | None:
    """The nearest counts: the tenant's shard, then the cluster's, then one of the environment's by the hash of a name.

    That is the name of the tenant, or of the remote cluster. The platform's own on the management cluster, which may be what runs
    the shards, stays with the controllers without a shard. Args: tenant: "" for the platform; cluster: "" for none in particular.
    """
    if tenant and (own := fleet.document.tenants[tenant].shard):
        return FluxShard(own, ("tenants", tenant, "shard"))
    if cluster and (own := fleet.clusters[cluster].shard):
        return FluxShard(own, ("clusters", cluster, "shard"))
    declared = fleet.environments[environment]
    hashed = tenant or ("" if cluster == declared.management else cluster)
    if not declared.fluxShards or not hashed:
        return None
    chosen = declared.fluxShards[shard_of(hashed, len(declared.fluxShards)) - 1]
    return FluxShard(chosen, fleet.said_at(environment, "fluxShards"), declared.fluxShards)


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
