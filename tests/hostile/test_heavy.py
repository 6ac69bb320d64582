"""Inputs made to take time or memory, each in a process of its own; and every secret in every place: `make test-hostile`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import secrets
from tests.hostile.case import Case
from tests.hostile.heavy import CASES, measured
from tests.hostile.outcome import MEGABYTES, broken_promises, outcome_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_refused_within_the_time_and_the_memory_that_are_promised(case: Case, tmp_path: Path) -> None:
    outcome, megabytes = measured(case.write(tmp_path))
    print(f"{case.name}: {outcome.seconds:.1f} s, {megabytes} MB")
    assert broken_promises(case, outcome) == []
    assert megabytes <= MEGABYTES


def test_no_secret_in_any_place_is_shown(tmp_path: Path) -> None:
    broken = {}
    for case in (*secrets.cases(), *secrets.nearby()):
        if said := broken_promises(case, outcome_of(case.write(tmp_path))):
            broken[case.name] = said
    assert broken == {}
