"""Which stack runs which tenant, when several stacks share an environment."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tenantry.plan.shards import Shard, of_shard, shard_in, shard_of
from tests.unit.guard.fleets import fleet, tenant
from tests.unit.texts import planned

NAMES = [f"team-{number}" for number in range(1000)]


def test_a_tenant_stays_in_its_shard_in_every_version_of_the_program() -> None:
    assert [shard_of(name, 8) for name in ("rocky", "movy", "platform-tools", "a", "team-0")] == [7, 4, 2, 2, 1]


def test_a_growing_count_moves_tenants_to_the_new_shard_only() -> None:
    for before, after in pairwise(range(1, 17)):
        moved = {name for name in NAMES if shard_of(name, before) != shard_of(name, after)}
        assert {shard_of(name, after) for name in moved} == {after}
        assert len(moved) < 1.35 * len(NAMES) / after


def test_shards_get_about_as_many_tenants_each() -> None:
    sizes = [sum(shard_of(name, 8) == index for name in NAMES) for index in range(1, 9)]
    assert sum(sizes) == len(NAMES)
    assert max(sizes) < 1.25 * len(NAMES) / 8


@pytest.mark.parametrize("text", ["1/1", "2/8", "64/64"])
def test_a_shard_is_read_as_it_is_written(text: str) -> None:
    assert str(shard_in(text)) == text


@pytest.mark.parametrize("text", ["", "2", "0/8", "9/8", "1/0", "-1/2", "1/65", "1/2/3", "a/b", " 1/2", "1/2\n", "²/8"])
def test_what_is_no_shard_is_none(text: str) -> None:
    assert shard_in(text) is None


TENANTS = [tenant(name, "web", "db") for name in ("rocky", "movy", "alpha", "otto", "zoe")]
PLAN = planned(fleet(*TENANTS))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_each_object_is_in_one_shard_with_its_dependencies_there(count: int) -> None:
    parts = [of_shard(PLAN, Shard(index, count)) for index in range(1, count + 1)]
    ids = [each.id for part in parts for each in part.objects]
    assert sorted(ids) == sorted(each.id for each in PLAN.objects)
    assert sorted(each.id for part in parts for each in part.apps) == sorted(each.id for each in PLAN.apps)
    assert sum(len(part.placements) for part in parts) == len(PLAN.placements)
    whole = {each.id: each for each in PLAN.objects}
    for part in parts:
        here = [each.id for each in part.objects]
        assert here == [each.id for each in PLAN.objects if each.id in {*here}]
        for each in part.objects:
            assert each.manifest == whole[each.id].manifest
            assert each.depends_on == tuple(other for other in whole[each.id].depends_on if other in {*here})
            others = {*whole[each.id].depends_on} - {*here}
            assert not {whole[other].owner.tenant for other in others} - {""}


def test_no_object_lies_in_a_namespace_that_another_shard_makes() -> None:
    makers = {each.id.name: each.owner.tenant for each in PLAN.objects if each.id.kind == "Namespace"}
    assert makers
    assert all(makers.get(each.id.namespace, each.owner.tenant) == each.owner.tenant for each in PLAN.objects)


def test_another_tenant_changes_no_other_tenant_s_shard() -> None:
    more = planned(fleet(*TENANTS, tenant("new", "web")))
    for index in (1, 2, 3):
        before, after = (of_shard(each, Shard(index, 3)) for each in (PLAN, more))
        assert {each.id for each in before.objects} <= {each.id for each in after.objects}
