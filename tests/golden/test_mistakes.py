"""Mistakes in a fleet, and all that its author is told: mistakes/<package>.txt.

`=== fleet` begins a sound fleet. Every other heading begins a mistake: the lines by which it differs from the fleet above
it, see `changed`, and after an empty line the answer. `pytest --update-golden` writes the answers; read the difference
before committing it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tenantry.load import plan_all
from tests.golden.changed import changed
from tests.unit import texts

HERE = Path(__file__).with_name("mistakes")


@pytest.mark.parametrize("package", sorted(file.stem for file in HERE.iterdir()))
def test_an_author_is_told_exactly_this(package: str, *, update_golden: bool) -> None:
    file = HERE / f"{package}.txt"
    expected = file.read_text(encoding="utf-8")
    found, fleet = "", ""
    _, *sections = re.split(r"^=== (.*)\n", expected, flags=re.MULTILINE)
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        if heading == "fleet":
            plan_all(texts.fleet(fleet := text))
            found += f"=== {heading}\n{text}"
        else:
            edits, _, _ = text.partition("\n\n")
            told = texts.problems(changed(fleet, edits.splitlines()))
            assert "hunter2" not in told, "a secret is repeated"
            found += f"=== {heading}\n{edits}\n\n{told}"
    if update_golden:
        file.write_text(found, encoding="utf-8")
    assert found == expected
