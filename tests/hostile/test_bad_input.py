"""What docs/output.md promises, for every case of the corpus that is quick."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.hostile.case import FLEET, Case
from tests.hostile.corpus import cases
from tests.hostile.outcome import Outcome, broken_promises, most_seconds, outcome_of
from tests.hostile.secrets import SECRETS

CASES = {case.name: case for case in cases()}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("group", sorted({name.partition("/")[0] for name in CASES}))
def test_a_broken_fleet_is_refused_at_a_place_in_bounded_time_and_no_secret_of_it_is_shown(
    group: str, tmp_path: Path
) -> None:
    found = {}
    for number, (name, case) in enumerate(CASES.items()):
        if name.startswith(f"{group}/"):
            directory = tmp_path / str(number)
            directory.mkdir()
            found[name] = broken_promises(case, outcome_of(case.write(directory)))
    assert {name: broken for name, broken in found.items() if broken} == {}


def test_the_sound_fleet_that_the_cases_break_is_sound() -> None:
    assert outcome_of(Case("", FLEET.encode()).write(Path())).code == 0


def test_more_than_three_hundred_different_inputs_have_to_be_refused() -> None:
    certain = {(case.raw, *sorted(case.beside.items())) for case in CASES.values() if case.certain}
    assert len(certain) > 300


def test_an_outcome_that_breaks_its_promises_is_noticed() -> None:
    case = Case("", b"", secrets=("hunter2",))
    said = "Traceback: hunter2\x1b\n"
    assert [
        "no place: 'Traceback: hunter2\\x1b'",
        "a traceback",
        "control characters",
        "shows 'hunter2'",
        f"{11 * most_seconds():.1f} s of the processor, more than 60 times a plain fleet",
    ] == broken_promises(case, Outcome(2, said, 11 * most_seconds()))
    assert ["exit code 3"] == broken_promises(case, Outcome(3, "", 0.0))


def test_json_holds_no_secret_either() -> None:
    case = Case("", FLEET.replace("rocky:", f"{SECRETS['github']}:").encode())
    outcome = outcome_of(case.write(Path()), "--output", "json")
    (error,) = json.JSONDecoder().raw_decode(outcome.said)[0]["errors"]  # the text for people follows
    assert ("secret-in-file", ["tenants", "(a secret?)"]) == (error["code"], error["path"])


def test_a_pipe_among_the_included_files_is_not_waited_for() -> None:
    case = CASES["included/is-empty"]
    file = case.write(Path())
    os.mkfifo("t/b.yaml")
    assert (
        "tenants.yaml:4:11: error[unreadable-include]: 't/b.yaml' is not a file, but a pipe or a device\n"
        "     4 | include: ['t/*.yaml']\n"
        "       |           ^^^^^^^^^^\n"
        "  at include[0]\n"
        "  fix: make it a readable file, or narrow the pattern\n"
    ) in outcome_of(file).said


def test_included_files_are_together_as_small_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenantry.source.include.MAX_BYTES", 200)
    file = Case("", FLEET.encode() + b"  a: {}\n  b: {}\ninclude: ['t/*.yaml']\n").write(Path())
    Path("t").mkdir()
    for name in "abc":
        Path(f"t/{name}.yaml").write_text(f"tenants: {{{name}: {{clusters: {{all: true}}}}}}\n".ljust(90))
    assert (
        "tenants.yaml:15:11: error[too-large]: with 't/c.yaml' the included files exceed 200 bytes\n"
        "    15 | include: ['t/*.yaml']\n"
        "       |           ^^^^^^^^^^\n"
        "  at include[0]\n"
        "  fix: narrow the pattern\n"
        "Found 1 error\n"
    ) == outcome_of(file).said


def test_of_endless_problems_the_first_thousand_are_told() -> None:
    raw = FLEET + "".join(f"key-{number}: 1\n" for number in range(1200))
    outcome = outcome_of(Case("", raw.encode()).write(Path()))
    assert 1000 == outcome.said.count("error[")
    assert outcome.said.endswith("\nFound more than 1000 errors; only these were collected\n")
