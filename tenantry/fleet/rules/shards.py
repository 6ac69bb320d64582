"""Rules about the shards of Flux's controllers."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.environments import tenant_barrier
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Finding, Path
from tenantry.messages.text import declared

_LISTS = ("fluxShards", "dedicatedFluxShards")


def shards_are_listed_once(fleet: Fleet) -> Iterator[Finding]:
    told: set[Path] = set()
    for name in fleet.environments:
        seen: dict[str, Path] = {}
        for path, shard in _listed(fleet, name):
            first = seen.setdefault(shard, path)
            if first != path and path not in told:
                told.add(path)
                yield Finding(
                    path,
                    "duplicate-entry",
                    f"environment '{name}' lists shard '{shard}' twice",
                    (f"first: {fleet.source.line_of(first)}",),
                    fix="remove one of them",
                )


def shards_are_listed_by_their_environment(fleet: Fleet) -> Iterator[Finding]:
    """Only an environment that lists its shards says which there are."""
    told: set[Path] = set()
    for environment in fleet.environments:
        known = [shard for _, shard in _listed(fleet, environment)]
        for path, who, shard in _named(fleet, environment) if known else ():
            at = fleet.source.origin(path)
            if shard not in known and at not in told:
                told.add(at)
                yield Finding(
                    path,
                    "unknown-shard",
                    f"{who} is for shard '{shard}', which environment '{environment}' does not list",
                    (declared("listed", shard, known),),
                    fix=f"correct the name, or add it to 'dedicatedFluxShards' of environment '{environment}'",
                )


def _listed(fleet: Fleet, environment: str) -> Iterator[tuple[Path, str]]:
    declared_there = fleet.environments[environment]
    for key in _LISTS:
        at = fleet.said_at(environment, key)
        for index, shard in enumerate(getattr(declared_there, key) or ()):
            yield (*at, index), shard


def _named(fleet: Fleet, environment: str) -> Iterator[tuple[Path, str, str]]:
    """What says itself which shard it is for."""
    for name, cluster in fleet.clusters.items():
        if cluster.shard and environment in cluster.environments:
            yield ("clusters", name, "shard"), f"cluster '{name}'", cluster.shard
    for name, tenant in fleet.document.tenants.items():
        if tenant.shard and tenant_barrier(fleet, environment, name) is None:
            yield ("tenants", name, "shard"), f"tenant '{name}'", tenant.shard
