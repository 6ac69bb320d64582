"""At which points of a run tests/faults kills it."""

from __future__ import annotations

from tests.faults.crash import crashes


def test_points_are_spread_over_the_whole_run() -> None:
    shares = sorted(each.share for each in crashes(20, 1))
    assert [int(share * 20) for share in shares] == list(range(20))


def test_a_seed_always_gives_the_same_points_and_another_gives_others() -> None:
    assert crashes(20, 1) == crashes(20, 1) != crashes(20, 2)


def test_every_way_to_crash_is_there_with_and_without_checkpoints() -> None:
    ways = [(each.whole, each.checkpoints, each.edited) for each in crashes(8, 1)]
    assert len(set(ways)) == 8
    assert sum(each.checkpoints for each in crashes(20, 1)) == 10
