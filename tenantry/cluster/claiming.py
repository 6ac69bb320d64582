"""Changes the claims of stacks while an environment is divided into another number of shards."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.guard.claims import MANAGER, Claim, claim_object
from tenantry.guard.kept import KEY
from tenantry.kube.objects import ObjectId

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def mark(client: Client, platform: str, there: Iterable[Claim], moving: int) -> None:
    """Note on the existing claims that their states change. From now on the guard refuses every run. moving: 0 takes it back.

    Raises: Refused: it is not allowed.
    """
    for each in there:
        content = {"data": {"moving": str(moving) if moving else None}}
        requests.patched(client, _id(platform, each), content, manager=MANAGER, dry_run=False)


def settle(client: Client, platform: str, there: Iterable[Claim], wanted: Iterable[Claim]) -> None:
    """Write the claims of the new shards, which ends the note of `mark`. Those of shards that are gone are deleted before that,
    with their records, when others have taken over what they say of kept namespaces.

    Raises: Refused: it is not allowed.
    """
    from lightkube import ApiError
    from lightkube.resources.core_v1 import ConfigMap

    claims = list(wanted)
    names = {each.name for each in claims}
    for each in reversed(claims[1:]):
        _write(client, platform, each)
    requests.patched(client, _id(platform, claims[0]), _kept(claims[0]), manager=MANAGER, dry_run=False)
    for each in there:
        if each.name not in names:
            with suppress(ApiError):  # most stacks keep none, and readers ignore one of a shard that is gone
                client.delete(ConfigMap, each.record, namespace=platform)
            client.delete(ConfigMap, each.name, namespace=platform)
    # The first shard's claim comes last: as long as it has the note, the move can be resumed.
    _write(client, platform, claims[0])


def _write(client: Client, platform: str, claim: Claim) -> None:
    from lightkube.codecs import from_dict

    content = {"data": {**claim.data, **_kept(claim)["data"], "shard": claim.data.get("shard"), "moving": None}}
    if requests.patched(client, _id(platform, claim), content, manager=MANAGER, dry_run=False) is None:
        client.apply(from_dict(dict(claim_object(platform, claim).manifest)), field_manager=MANAGER)


def _kept(claim: Claim) -> dict[str, dict[str, str | None]]:
    """A patch; null removes the key."""
    return {"data": {KEY: claim.data.get(KEY)}}


def _id(platform: str, claim: Claim) -> ObjectId:
    return ObjectId("v1", "ConfigMap", platform, claim.name)
