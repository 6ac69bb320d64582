"""What a shard's run has to know of the other shards' objects on the management cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.inventory import claims_on
from tenantry.guard.shared import needed, still_needed
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.problems import Problem
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.shards import Shard

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def against_other_shards(
    client: Client, platform: str, plan: Plan, manifests: Iterable[Manifest], shard: Shard, verb: str = "up"
) -> Iterator[Problem]:
    """Why the first shard cannot run yet. Reads nothing more unless other shards have removals to do.

    Args:   plan, manifests: of the whole environment. platform: the namespace of the claims. verb: "up" or "destroy".
    Raises: Refused: reading is not allowed.
    """
    if shard.count == 1 or not shard.holds(""):
        return
    if waiting := needed(plan, manifests, shard):
        claims = [each for each in claims_on(client, platform) if each.environment == plan.environment]
        yield from still_needed(waiting, _shared(client, plan.environment, waiting), shard, claims, verb)


def _shared(client: Client, environment: str, wanted: Iterable[ObjectId]) -> set[ObjectId]:
    """Those of the wanted objects that exist and belong to the environment but to no tenant."""
    wanted = set(wanted)
    selector = f"{ENVIRONMENT_LABEL}={environment},!{TENANT_LABEL}"

    def of_kind(kind: tuple[str, str]) -> set[ObjectId]:
        listed = requests.every(client, *kind, selector=selector, metadata_only=True)
        return {id for each in listed if (id := readable_id(each))}

    found = requests.in_parallel(of_kind, sorted({(each.api_version, each.kind) for each in wanted}))
    return wanted & set().union(*found)
