"""What the first shard's run asks the cluster about the other shards."""

from __future__ import annotations

import pytest

from tenantry.cluster.selection import select
from tenantry.cluster.shards import against_other_shards
from tenantry.plan.shards import WHOLE, Shard
from tests.unit.guard.fleets import fleet, manifests, tenant
from tests.unit.memory import Memory
from tests.unit.texts import planned

FIRST, SECOND = Shard(1, 2), Shard(2, 2)
ROCKY, OTTO = tenant("rocky", "web", where="{names: [hub]}"), tenant("otto", "web", where="{names: [edge]}")
BEFORE, AFTER = fleet(ROCKY, OTTO), fleet(ROCKY)


def memory() -> Memory:
    """A cluster with the shared objects that the second shard's tenant still needs."""
    found = Memory()
    found.objects["/api/v1/serviceaccounts"] = {
        "metadata": {},
        "items": [{"metadata": {"namespace": "kamaji", "name": "tenantry-platform"}}],
    }
    found.objects["/api/v1/namespaces/platform/configmaps"] = {
        "metadata": {},
        "items": [{"data": {"environment": "dev", "stack": "shop/two", "shard": "2/2"}}],
    }
    return found


def test_it_waits_for_the_stack_that_the_claim_names() -> None:
    there = memory()
    with there.client() as client:
        (problem,) = against_other_shards(client, "platform", planned(AFTER), manifests(BEFORE), FIRST)
    assert problem.fix == "`tenantry up --environment dev` runs that shard first; without it: pulumi up --stack two"
    selectors = {parameters.get("labelSelector") for _, path, parameters in there.requests if "serviceaccounts" in path}
    assert selectors == {"tenantry/environment=dev,!toolkit.fluxcd.io/tenant"}


@pytest.mark.parametrize(("shard", "after"), [(FIRST, BEFORE), (SECOND, AFTER), (WHOLE, AFTER)])
def test_otherwise_it_asks_nothing(shard: Shard, after: str) -> None:
    there = memory()
    with there.client() as client:
        assert list(against_other_shards(client, "platform", planned(after), manifests(BEFORE), shard)) == []
    assert there.requests == []


def test_a_selection_takes_the_apps_of_a_shard() -> None:
    from dataclasses import replace

    plan = planned(BEFORE)
    for shard, expected in ((FIRST, {"rocky"}), (SECOND, {"otto"}), (WHOLE, {"rocky", "otto"})):
        selection = replace(select(plan), shard=shard)
        assert {each.tenant for each in plan.apps if selection.takes(each)} == expected
