"""A check that cannot fail is no check: for each rule about frames there is a hole in the planner that it finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.messages.errors import InvalidFleet
from tenantry.policy.rule import name_of
from tenantry.policy.rules import FRAME_RULES
from tests.hostile.confinement import outcome
from tests.hostile.holes import HOLES, Hole
from tests.hostile.holes_of_fields import FIELD_HOLES

pytestmark = pytest.mark.usefixtures("plans_once")

each_hole = pytest.mark.parametrize("hole", [*HOLES, *FIELD_HOLES], ids=lambda hole: hole.what)


def rules_of(found: InvalidFleet | list[str]) -> set[str]:
    assert not isinstance(found, InvalidFleet), found
    return {each.split(": ")[1] for each in found}


def test_every_rule_about_frames_has_a_hole() -> None:
    assert {name_of(rule) for rule in FRAME_RULES} <= {hole.rule for hole in (*HOLES, *FIELD_HOLES)}


@each_hole
def test_without_the_hole_the_fleet_is_refused_or_confined(hole: Hole, tmp_path: Path) -> None:
    found = outcome(hole.fleet(), tmp_path)
    assert isinstance(found, InvalidFleet) or found == []


@each_hole
def test_the_rule_meant_finds_the_hole(hole: Hole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hole.open(monkeypatch)
    assert hole.rule in rules_of(outcome(hole.fleet(), tmp_path))
