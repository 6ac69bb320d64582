"""Which shard of Flux's controllers reconciles the Flux objects of a placement, and those of the platform on a cluster."""

from __future__ import annotations

from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.hashing import shard_of
from tenantry.messages.errors import Path


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
