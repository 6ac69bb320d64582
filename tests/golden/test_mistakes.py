"""Mistakes in a fleet, and all that its author is told: mistakes/<topic>.txt.

`=== fleet` begins a sound fleet. Every other heading begins a mistake in the fleet above it: `12- text` takes line 12 of the
fleet away, and `12+ text` stands behind it. The answer follows after an empty line. `pytest --update-golden` writes the
answers; read the difference before committing it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tenantry.load import plan_all
from tests.unit import texts

HERE = Path(__file__).with_name("mistakes")
HEADING = re.compile(r"^=== (.*)\n", re.MULTILINE)
EDIT = re.compile(r"(\d+)([-+])(?: (.*))?")


def changed(fleet: str, edits: str) -> str:
    """The fleet with a mistake. Raises: AssertionError: a line that goes is another one in the fleet."""
    lines = ["", *fleet.splitlines(keepends=True)]
    added: dict[int, str] = {}
    for edit in edits.splitlines():
        found = EDIT.fullmatch(edit)
        assert found, edit
        number, text = int(found[1]), f"{found[3] or ''}\n"
        if found[2] == "+":
            added[number] = added.get(number, "") + text
        else:
            assert lines[number] == text, edit
            lines[number] = ""
    return "".join(line + added.get(number, "") for number, line in enumerate(lines))


@pytest.mark.parametrize("topic", sorted(file.stem for file in HERE.iterdir()))
def test_an_author_is_told_exactly_this(topic: str, *, update_golden: bool) -> None:
    file = HERE / f"{topic}.txt"
    expected = file.read_text(encoding="utf-8")
    found, fleet = "", ""
    before, *sections = HEADING.split(expected)
    assert before == ""
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        if heading == "fleet":
            plan_all(texts.fleet(fleet := text))
            found += f"=== {heading}\n{text}"
        else:
            edits, _, _ = text.partition("\n\n")
            told = texts.problems(changed(fleet, edits))
            assert "hunter2" not in told, "a secret is repeated"
            found += f"=== {heading}\n{edits}\n\n{told}"
    if update_golden:
        file.write_text(found, encoding="utf-8")
    assert found == expected
