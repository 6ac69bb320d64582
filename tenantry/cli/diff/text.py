"""A difference as text for a terminal."""

from __future__ import annotations

import click

from tenantry.cli.diff.lines import DisplayLimits, Line, heading, meaning, objects
from tenantry.compare.diff import Diff

_COLOURS = {"!": "magenta", "-": "red", "+": "green", "~": "yellow"}


def as_text(diff: Diff, limits: DisplayLimits) -> str:
    """One environment: a line with the counts, and indented below it the consequences and changes."""
    lines = [*meaning(diff, limits), *objects(diff, limits)]
    return "\n".join([click.style(heading(diff), bold=True), *map(line_as_text, lines)])


def line_as_text(line: Line) -> str:
    """The line, indented below a heading, in the colour of its sign."""
    text = f"{line.sign} {line.text}"
    indent = "  " + "    " * line.depth
    colour = _COLOURS.get(line.sign)
    return indent + (click.style(text, fg=colour, bold=True if line.sign == "!" else None) if colour else text)
