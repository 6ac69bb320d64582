"""A check that cannot fail is no check: each hole in the planner is seen in a fleet that uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.messages.errors import InvalidFleet
from tests.hostile.confinement import outcome
from tests.hostile.holes import HOLES, Hole
from tests.hostile.holes_of_fields import FIELD_HOLES

each_hole = pytest.mark.parametrize("hole", [*HOLES, *FIELD_HOLES], ids=lambda hole: hole.what)


@each_hole
def test_without_the_hole_the_fleet_is_refused_or_confined(hole: Hole, tmp_path: Path) -> None:
    found = outcome(hole.fleet(), tmp_path)
    assert isinstance(found, InvalidFleet) or found == []


@each_hole
def test_the_hole_is_seen(hole: Hole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hole.open(monkeypatch)
    found = outcome(hole.fleet(), tmp_path)
    assert not isinstance(found, InvalidFleet), found
    assert any("tenant 'rocky'" in each or "rocky/" in each or hole.tenant in each for each in found)
