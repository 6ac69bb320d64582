"""A review as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import click

from tenantry.cli.diff.lines import danger_lines, object_lines, section_lines
from tenantry.cli.diff.values import DisplayLimits, Line
from tenantry.facts.review import Review, sections, shared_dangers
from tenantry.messages.text import printable

_COLOURS = {"!": "magenta", "-": "red", "+": "green", "~": "yellow"}
_NARROWEST = 40
"""Columns below which lines are not wrapped any further."""


def as_text(reviews: Sequence[Review], base: str, limits: DisplayLimits, width: int | None) -> str:
    """Dangers, the changes by environment, the objects behind them, and the environments without a difference.

    Args: width: columns at which lines are wrapped; None: a program reads them, so they are not wrapped.
    """
    parts = [f"against {printable(base)}"]
    changed, equal = ([each for each in reviews if bool(each) is is_changed] for is_changed in (True, False))
    if dangers := danger_lines(shared_dangers(changed), limits):
        parts.append(block("", dangers, width))
    parts += [block(each.heading, section_lines(each, limits), width) for each in sections(changed)]
    if changed:
        objects = (line for each in changed for line in object_lines(each, limits))
        parts.append(block("objects", objects, width))
    if equal:
        parts.append(f"no difference: {', '.join(each.environment for each in equal)}")
    return "\n\n".join(parts)


def block(title: str, lines: Iterable[Line], width: int | None) -> str:
    """Lines below a title, or at the top without one."""
    shown = [line_text(line, width, top=not title) for line in lines]
    return "\n".join([click.style(title, bold=True), *shown] if title else shown)


def line_text(line: Line, width: int | None = None, *, top: bool = False) -> str:
    """The line in the colour of its sign, with its comment behind it, or below it where there is no room."""
    indent = "" if top else "  " + "    " * line.depth
    colour = _COLOURS.get(line.sign)
    text = _wrapped(f"{line.sign} {line.text}".lstrip(), indent, width)
    shown = click.style(text, fg=colour, bold=True if line.sign == "!" else None) if colour else text
    if not line.comment:
        return shown
    comment = f"# {printable(line.comment)}"
    fits = width is None or len(text.splitlines()[-1]) + 2 + len(comment) <= width
    gap = "  " if fits else f"\n{indent}    "
    return f"{shown}{gap}{click.style(comment, dim=True)}"


def _wrapped(text: str, indent: str, width: int | None) -> str:
    """The text within the columns, continued below its own beginning. A word that is too long stays whole."""
    if width is None or len(indent) + len(text) <= width:
        return indent + text
    return textwrap.fill(
        text,
        max(width, len(indent) + _NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
