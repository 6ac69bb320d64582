"""Drawn fleets with a hostile included file; tests/hostile judges thousands."""

from __future__ import annotations

from tests.hostile.confinement import judge, seeds


def test_hostile_fleets_are_refused_or_confined() -> None:
    verdicts = judge(seeds(0, 100))
    assert verdicts.escaped == {}
    assert verdicts.confined >= 10
    assert verdicts.refused >= 20
