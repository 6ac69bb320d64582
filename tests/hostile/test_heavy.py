"""Inputs made to take time or memory, each in a process of its own; and every secret in every place: `make test-hostile`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import secrets
from tests.hostile.heavy import CASES, case, measured
from tests.hostile.outcome import MEGABYTES, broken_promises, outcome_of


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_within_the_time_and_the_memory_that_are_promised(name: str, tmp_path: Path) -> None:
    heavy = case(name)
    outcome, megabytes = measured(heavy.write(tmp_path))
    print(f"{name}: {outcome.seconds:.1f} s, {megabytes} MB")
    assert broken_promises(heavy, outcome) == []
    assert megabytes <= MEGABYTES


def test_no_secret_in_any_place_is_shown(tmp_path: Path) -> None:
    broken = {}
    for each in (*secrets.cases(), *secrets.nearby()):
        if said := broken_promises(each, outcome_of(each.write(tmp_path))):
            broken[each.name] = said
    assert broken == {}
