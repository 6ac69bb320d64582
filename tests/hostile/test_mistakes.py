"""What people are told about the mistakes that they make: each has its line, its message and what to write instead.

`pytest --update-golden` writes mistakes.txt; read the difference before committing it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hostile.case import Case
from tests.hostile.mistakes import FLEET, TABLE, mistakes
from tests.hostile.outcome import outcome_of

MISTAKES = tuple(mistakes())
_EXCERPT = re.compile(r" *\d* \| ")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(text: str) -> str:
    """All that is said about a file, without its lines and the closing count."""
    outcome = outcome_of(Case("", text.encode()).write(Path()))
    lines = (line for line in outcome.said.splitlines() if not _EXCERPT.match(line))
    return "".join(f"{line}\n" for line in lines if not line.startswith(("Found ", "tenants.yaml is valid")))


def test_the_fleet_that_the_mistakes_are_made_in_is_sound() -> None:
    assert said(FLEET) == ""


def test_a_mistake_is_told_in_exactly_these_words(*, update_golden: bool) -> None:
    found = {mistake.name: said(mistake.text) for mistake in MISTAKES}
    if update_golden:
        TABLE.write_text("\n".join(each.entry(found[each.name]) for each in MISTAKES), encoding="utf-8")
    assert {each.name: each.said for each in mistakes()} == found


def test_a_mistake_is_not_passed_over_in_silence() -> None:
    assert [each.name for each in MISTAKES if not each.said] == []


def test_every_mistake_comes_with_what_to_do_and_no_name_stands_twice() -> None:
    assert [
        each.name for each in MISTAKES if each.said.count("\n  fix: ") < len(re.findall("^tenants", each.said, re.M))
    ] == []
    assert len({each.name for each in MISTAKES}) == len(MISTAKES) > 200
