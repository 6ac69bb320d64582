"""Broken files through the command line: diagnostics/<name>/tenants.yaml, and output.txt with what it says and its exit code.

`pytest --update-golden` writes output.txt; read the difference before committing it.
"""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.table import table

HERE = Path(__file__).with_name("diagnostics")
CASES = sorted(path.name for path in HERE.iterdir())
PLACE = re.compile(r"([-./\w]+\.yaml):(\d+):(\d+): error\[[a-z0-9-]+\]: \S")

each_case = table("case", CASES)


def outcome(capsys: pytest.CaptureFixture[str], case: str, command: str) -> str:
    with chdir(HERE / case):
        code = run([command])
    out, err = capsys.readouterr()
    assert out == ""
    return f"{err}exit code: {code}\n"


@each_case
def test_a_broken_file_is_refused_in_exactly_these_words(
    case: str, capsys: pytest.CaptureFixture[str], *, update_golden: bool
) -> None:
    said = outcome(capsys, case, "validate")
    if update_golden:
        (HERE / case / "output.txt").write_text(said)
    assert (HERE / case / "output.txt").read_text() == said


@each_case
def test_render_refuses_it_in_the_same_words(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (HERE / case / "output.txt").read_text() == outcome(capsys, case, "render")


@each_case
def test_every_problem_has_a_place_inside_its_file_and_the_exit_code_is_2(case: str) -> None:
    *told, count, code = (HERE / case / "output.txt").read_text().splitlines()
    problems = [line for line in told if not line.startswith("  ")]
    for problem in problems:
        place = PLACE.match(problem)
        assert place, problem
        lines = re.split(rb"\r\n|\r|\n", (HERE / case / place[1]).read_bytes())  # bytes, as not all are text
        line, column = int(place[2]), int(place[3])
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
    assert (count, code) == (f"Found {len(problems)} error{'s' * (len(problems) != 1)}", "exit code: 2")
    assert not any("Traceback" in line or "Error:" in line for line in told)
