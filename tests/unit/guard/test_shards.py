"""What the guard of one shard's run counts, and what the first shard may not remove yet."""

from __future__ import annotations

from tenantry.guard import RunLimits, removals
from tenantry.guard.claims import Claim
from tenantry.guard.shared import needed, still_needed
from tenantry.kube.objects import ObjectId
from tenantry.plan.shards import WHOLE, Shard, of_shard
from tests.unit.guard.fleets import fleet, manifests, now, refusal, tenant
from tests.unit.texts import FRAME, planned

FIRST, SECOND = Shard(1, 2), Shard(2, 2)
ROCKY, MOVY = tenant("rocky", "web"), tenant("movy", "web")
"""Of the first of two shards."""
OTTO, ZOE = tenant("otto", "web"), tenant("zoe", "web")
"""Of the second."""


def limits(shard: Shard, deletions: int = 0) -> RunLimits:
    return RunLimits(protected=False, deletions=deletions, shard=shard)


def gone(before: str, after: str, shard: Shard) -> list[str]:
    return [each.permit for each in removals(of_shard(planned(after), shard), now(before).of_shard(shard))]


def test_a_run_counts_what_its_own_shard_loses() -> None:
    before, after = fleet(ROCKY, MOVY, OTTO, ZOE), fleet(ROCKY, ZOE)
    assert [gone(before, after, shard) for shard in (FIRST, SECOND)] == [["tenant/movy"], ["tenant/otto"]]
    assert gone(before, after, WHOLE) == ["tenant/movy", "tenant/otto"]


def test_the_limit_counts_for_each_shard_s_run() -> None:
    before, after = fleet(ROCKY, MOVY, OTTO, ZOE), fleet(ROCKY, ZOE)
    assert "tenant 'movy'" in refusal(before, after, limits(FIRST))
    assert "tenant 'otto'" in refusal(before, after, limits(SECOND))


def test_a_shard_may_lose_its_last_tenant_but_not_the_environment_all_of_them() -> None:
    before = fleet(ROCKY, OTTO)
    assert gone(before, fleet(ROCKY), SECOND) == ["tenant/otto"]
    assert "every tenant of environment 'dev'" in refusal(before, FRAME, limits(SECOND, 9))


ON_EDGE = tenant("otto", "web", where="{names: [edge]}")


def test_the_first_shard_waits_until_others_have_removed_what_needs_shared_objects() -> None:
    there, plan = manifests(fleet(ROCKY, ON_EDGE)), planned(fleet(tenant("rocky", "web", where="{names: [hub]}")))
    waiting = needed(plan, there, FIRST)
    account = ObjectId("v1", "ServiceAccount", "kamaji", "tenantry-platform")
    assert account in waiting
    claims = [Claim("dev", "fleet/dev", FIRST), Claim("dev", "fleet/dev-2", SECOND)]
    (problem,) = still_needed(waiting, {account}, FIRST, claims)
    assert problem.message == (
        "this run would remove ServiceAccount kamaji/tenantry-platform, which Flux needs to clean up 1 object of other shards:"
        " HelmRelease kamaji/edge-otto-baseline (2/2)"
    )
    assert problem.fix == "`tenantry up --environment dev` runs that shard first; without it: pulumi up --stack dev-2"


def test_what_stays_or_is_a_tenant_s_own_does_not_keep_the_first_shard_waiting() -> None:
    there = manifests(fleet(ROCKY, ON_EDGE))
    assert needed(planned(fleet(ROCKY, ON_EDGE)), there, FIRST) == {}
    waiting = needed(planned(fleet(ROCKY)), there, FIRST)
    assert list(still_needed(waiting, set(), FIRST, [])) == []
    assert needed(planned(fleet(ROCKY)), there, SECOND) == {}


def test_what_a_tenant_makes_in_its_own_namespace_does_not_keep_the_first_shard_waiting() -> None:
    """Not even if it refers to an account that looks shared."""
    there = manifests(fleet(ROCKY, OTTO))
    forged = next(dict(each) for each in there if each["kind"] == "Kustomization" and "otto" in str(each["metadata"]))
    forged |= {
        "metadata": {**forged["metadata"], "name": "more"},
        "spec": {**forged["spec"], "serviceAccountName": "shared"},
    }
    assert needed(planned(fleet(ROCKY, OTTO)), [*there, forged], FIRST) == {}
