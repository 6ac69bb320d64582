"""Exit codes and formats: docs/output.md, the help pages and the commands agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import click
import pytest

from tenantry.cli.commands import Command
from tests.exit_codes import listed_codes
from tests.golden.test_help import commands
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.cli.test_json import leaf

DOCS = Path(__file__).parents[3] / "docs" / "output.md"
COMMON = {0, 2, 3, 130}
LEAVES = [path for path in commands() if not isinstance(leaf(path), click.Group)]
OF_ANOTHER_PROGRAM = ("sandbox", "run")


def codes_of(path: tuple[str, ...]) -> frozenset[int]:
    command = leaf(path)
    assert isinstance(command, Command)
    return listed_codes(command)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the page."""
    text = DOCS.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return lines[2:]


@table("path", LEAVES, ids="-".join)
def test_every_help_page_lists_the_codes_of_its_command(path: tuple[str, ...]) -> None:
    assert "Exit codes:\n" in (leaf(path).epilog or "")
    if path != OF_ANOTHER_PROGRAM:
        assert {0, 2} <= codes_of(path) <= {0, 1, 2, 4, 5, 130}


@table("code", [1, 4, 5])
def test_the_table_names_the_commands_that_end_with_a_code(code: int) -> None:
    (row,) = (cells for cells in rows("Exit codes") if cells[0] == str(code))
    assert set(re.findall(r"`([a-z -]+)`", row[2])) == {" ".join(path) for path in LEAVES if code in codes_of(path)}


def test_the_table_has_every_code() -> None:
    used = {code for path in LEAVES for code in codes_of(path)} | COMMON
    assert [int(cells[0]) for cells in rows("Exit codes")] == sorted(used)


def test_the_table_of_formats_is_that_of_the_commands() -> None:
    expected = {}
    for path in LEAVES:
        for option in leaf(path).params:
            if option.name == "output":
                expected[" ".join(path)] = list(cast("click.Choice[str]", option.type).choices)
    documented = {command.strip("`"): formats.replace("`", "").split(", ") for command, formats, _ in rows("Formats")}
    assert documented == expected


def test_a_code_that_the_help_does_not_list_fails_tests(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf(("validate",)), "callback", lambda **_: 1)
    code, _, err = tenantry(capsys, "validate")
    assert (code, "validate ends with 1, which its help does not list" in err) == (3, True)


def test_options_have_one_meaning_everywhere() -> None:
    """-e is always the environment, and so on; an option with the same name has the same letter in all commands."""
    letters: dict[str, set[str]] = {}
    for path in LEAVES:
        for option in leaf(path).params:
            if isinstance(option, click.Option):
                short = next((each for each in option.opts if not each.startswith("--")), "")
                letters.setdefault(option.opts[-1] if len(option.opts) > 1 else option.opts[0], set()).add(short)
    assert {name: found for name, found in letters.items() if len(found) > 1} == {}
