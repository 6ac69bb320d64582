"""Claims while an environment is divided anew."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tenantry.cluster import claiming
from tenantry.guard.claims import Claim
from tenantry.kube.objects import ObjectId
from tenantry.plan.shards import Shard


class Cluster:
    """Notes what is written. known: the ConfigMaps that exist."""

    def __init__(self, *known: str) -> None:
        self.known, self.done = known, list[tuple[str, str, Any]]()

    def patched(self, _: object, id: ObjectId, content: Any, *, manager: str, dry_run: bool) -> object:
        assert (manager, dry_run, id.namespace) == ("pulumi-kubernetes", False, "platform")
        if id.name not in self.known:
            return None
        self.done.append(("patch", id.name, content["data"]))
        return content

    def apply(self, object: Any, **_: str) -> None:
        self.done.append(("create", object.metadata.name, object.data))

    def delete(self, _: object, name: str, *, namespace: str) -> None:
        self.done.append(("delete", f"{namespace}/{name}", None))


PROD = Claim("prod", "shop/prod")
THREE = [Claim("prod", f"shop/{name}", Shard(index, 3)) for index, name in enumerate(("prod", "b", "c"), 1)]
TWO = [Claim("prod", f"shop/{name}", Shard(index, 2)) for index, name in enumerate(("prod", "b"), 1)]


def of_shard(stack: str, shard: str | None) -> dict[str, str | None]:
    return {"environment": "prod", "stack": f"shop/{stack}", "kept": None, "shard": shard, "moving": None}


def test_existing_claims_get_the_note_and_lose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("tenantry-prod", "tenantry-prod.2")
    monkeypatch.setattr(claiming.requests, "patched", cluster.patched)
    claiming.mark(cast("Any", cluster), "platform", TWO, 4)
    claiming.mark(cast("Any", cluster), "platform", [PROD], 0)
    assert cluster.done == [
        ("patch", "tenantry-prod", {"moving": "4"}),
        ("patch", "tenantry-prod.2", {"moving": "4"}),
        ("patch", "tenantry-prod", {"moving": None}),
    ]


def test_the_first_claim_is_written_last_and_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("tenantry-prod")
    monkeypatch.setattr(claiming.requests, "patched", cluster.patched)
    claiming.settle(cast("Any", cluster), "platform", [PROD], TWO)
    assert cluster.done == [
        ("create", "tenantry-prod.2", {"environment": "prod", "stack": "shop/b", "shard": "2/2"}),
        ("patch", "tenantry-prod", {"kept": None}),
        ("patch", "tenantry-prod", of_shard("prod", "1/2")),
    ]


def test_claims_and_records_of_shards_that_are_gone_are_deleted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(*(each.name for each in THREE))
    monkeypatch.setattr(claiming.requests, "patched", cluster.patched)
    claiming.settle(cast("Any", cluster), "platform", THREE, [PROD])
    assert cluster.done == [
        ("patch", "tenantry-prod", {"kept": None}),
        ("delete", "platform/tenantry-prod.record.2", None),
        ("delete", "platform/tenantry-prod.2", None),
        ("delete", "platform/tenantry-prod.record.3", None),
        ("delete", "platform/tenantry-prod.3", None),
        ("patch", "tenantry-prod", of_shard("prod", None)),
    ]
