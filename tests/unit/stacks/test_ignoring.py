"""What a run does not wait for, as the command that started it says."""

from __future__ import annotations

import pytest

from tenantry.messages.errors import Refused
from tenantry.rollout.change import Ignoring
from tenantry.stacks.outcome import IGNORE, OFFBOARD, THROUGH, ignore_variable, ignoring_of, through_variable
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import planned

PLAN = planned(fleet("waves: [{name: canary, labels: {ring: canary}}, {all: true}]"))


def test_without_a_variable_everything_is_waited_for() -> None:
    assert ignoring_of(PLAN) == Ignoring()


def test_named_lines_are_let_through_for_their_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(IGNORE, ignore_variable("dev", ("waves",), ("rocky/web", "rocky")))
    assert ignoring_of(PLAN) == Ignoring(frozenset({"rocky/web", "rocky"}))
    monkeypatch.setenv(IGNORE, ignore_variable("dev", ("after",), ("rocky/web",)))
    assert ignoring_of(PLAN) == Ignoring(after=frozenset({"rocky/web"}))
    monkeypatch.setenv(IGNORE, ignore_variable("prod", ("waves",), ("rocky/web",)))
    assert ignoring_of(PLAN) == Ignoring()


@pytest.mark.parametrize(("wave", "number"), [("canary", 1), ("1", 1), ("wave 2", 2)])
def test_a_run_goes_through_a_wave_by_its_name_or_number(
    monkeypatch: pytest.MonkeyPatch, wave: str, number: int
) -> None:
    monkeypatch.setenv(THROUGH, through_variable("dev", wave))
    assert ignoring_of(PLAN) == Ignoring(through=number)


def test_what_does_not_exist_is_refused_with_what_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THROUGH, through_variable("dev", "early"))
    with pytest.raises(Refused, match="environment 'dev' has no wave 'early'; there: canary, wave 2"):
        ignoring_of(PLAN)
    monkeypatch.delenv(THROUGH)
    monkeypatch.setenv(IGNORE, ignore_variable("dev", ("waves",), ("rocky/wep",)))
    with pytest.raises(Refused, match="environment 'dev' has no line 'rocky/wep'"):
        ignoring_of(PLAN)


def test_a_run_that_gives_up_the_environment_asks_nothing_of_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OFFBOARD, "dev")
    found = ignoring_of(PLAN)
    assert found.waves == found.after >= {"rocky", "rocky/web", "rocky/db", "platform"}
