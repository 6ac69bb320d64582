"""The changes of files as a unified diff."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path

import click

from tenantry.messages.errors import LINE_BREAK
from tenantry.messages.redact import redacted
from tenantry.messages.text import printable

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_HEADER = 2
"""Lines with the names of the files."""
_OPEN = "\\ No newline at end of file"


def difference(changes: Mapping[Path, tuple[bytes, bytes]]) -> Iterator[str]:
    """The lines of a diff that `git apply` takes, without secrets and without characters that act on a terminal."""
    for file, (before, after) in changes.items():
        name = os.path.relpath(file)
        lines = unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}", lineterm="")
        for number, line in enumerate(lines):
            yield from [printable(line)] if number < _HEADER or line.startswith("@@") else _shown(line)


def coloured(line: str) -> str:
    """The line in the colour of its sign. Whether colours appear is decided when it is printed."""
    if line.startswith(("+++", "---")):
        return click.style(line, bold=True)
    colour = _COLOURS.get(line[:1])
    return click.style(line, fg=colour) if colour else line


def _lines(raw: bytes) -> list[str]:
    """The lines with their breaks, which count as a part of them."""
    text = raw.decode(errors="replace")
    lines, at = [], 0
    for match in LINE_BREAK.finditer(text):
        lines.append(text[at : match.end()])
        at = match.end()
    return [*lines, text[at:]] if at < len(text) else lines


def _shown(line: str) -> Iterator[str]:
    yield printable(redacted(line.removesuffix("\n").removesuffix("\r")))
    if not line.endswith(("\n", "\r")):
        yield _OPEN
