"""Choices that follow from a name alone and stay the same from run to run, such as the shard of Flux that reconciles an object."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Path


def key_of(name: str) -> int:
    """64 bits of the name's hash, the same in every version of the program."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def shard_of(name: str, count: int) -> int:
    """The shard of a tenant, or of whatever has a name: 1 to count.

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


class FluxShard(NamedTuple):
    """A shard, the place in the file that decides it, and what is written there if that is a list."""

    name: str
    at: Path
    written: list[str] | None = None


def flux_shard(fleet: Fleet, environment: str, tenant: str, cluster: str, *, content: str = "") -> FluxShard | None:
    """The nearest counts: the tenant's shard, then the cluster's, then one of the environment's by the hash of a name.

    That is the name of the remote cluster; on the management cluster that of the tenant; of what clusters share its content. The
    platform's own on the management cluster, which may be what runs the shards, stays with the controllers without a shard.
    Args: tenant: "" for the platform; cluster: "" for none in particular.
    """
    if tenant and (own := fleet.document.tenants[tenant].shard):
        return FluxShard(own, ("tenants", tenant, "shard"))
    if cluster and (own := fleet.clusters[cluster].shard):
        return FluxShard(own, ("clusters", cluster, "shard"))
    declared = fleet.environments[environment]
    hashed = content or (tenant if cluster in ("", declared.management) else cluster)
    if not declared.fluxShards or not hashed:
        return None
    chosen = declared.fluxShards[shard_of(hashed, len(declared.fluxShards)) - 1]
    return FluxShard(chosen, fleet.said_at(environment, "fluxShards"), declared.fluxShards)
