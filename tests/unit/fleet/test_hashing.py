"""Which shard of Flux's controllers the hash of a name chooses."""

from __future__ import annotations

from itertools import pairwise

from tenantry.fleet.flux_shards import shard_of

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
