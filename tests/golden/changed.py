"""Small changes of texts, as golden files have them."""

from __future__ import annotations

import re
from collections.abc import Iterable

EDIT = re.compile(r"(\d+)([-+])(?: (.*))?")


def changed(text: str, edits: Iterable[str]) -> str:
    """The text with other lines: `12- text` takes its line 12 away, and `12+ text` stands behind that line.

    Raises: AssertionError: the text has another line there.
    """
    lines = ["", *text.splitlines(keepends=True)]
    added: dict[int, str] = {}
    for edit in edits:
        found = EDIT.fullmatch(edit)
        assert found, edit
        number, line = int(found[1]), f"{found[3] or ''}\n"
        if found[2] == "+":
            added[number] = added.get(number, "") + line
        else:
            assert lines[number] == line, edit
            lines[number] = ""
    return "".join(line + added.get(number, "") for number, line in enumerate(lines))
