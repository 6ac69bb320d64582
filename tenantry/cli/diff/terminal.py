"""A review as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import click

from tenantry.cli.diff.outline import danger_lines, outline
from tenantry.cli.diff.together import together
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line
from tenantry.cli.diff.words import heading
from tenantry.compare.review.model import Review

_COLOURS = {"!": "magenta", "-": "red", "+": "green", "~": "yellow"}
_NARROWEST = 40
"""Columns below which lines are not wrapped any further."""


def as_text(review: Review, base: str, limits: DisplayLimits, width: int | None) -> str:
    """Dangers, then each environment with its tenants, then the environments without a difference.

    Args: width: columns at which lines are wrapped; None: a program reads them, so they are not wrapped.
    """
    parts = [f"against {base}"]
    if first := danger_lines(review, limits):
        parts.append(_section("", first, width))
    shown = together(review, apart=limits is EVERYTHING)
    parts += [_section(heading(each), outline(each, limits), width) for each in shown]
    if review.unchanged:
        parts.append(_unchanged(review.unchanged))
    return "\n\n".join(parts)


def _unchanged(names: Sequence[str]) -> str:
    return f"no difference: {', '.join(names)}"


def _section(title: str, lines: Iterable[Line], width: int | None) -> str:
    shown = [line_as_text(line, width, top=not title) for line in lines]
    return "\n".join([click.style(title, bold=True), *shown] if title else shown)


def line_as_text(line: Line, width: int | None = None, *, top: bool = False) -> str:
    """The line in the colour of its sign, indented below a heading, or at the top without one."""
    indent = "" if top else "  " + "    " * line.depth
    colour = _COLOURS.get(line.sign)
    text = _wrapped(f"{line.sign} {line.text}".lstrip(), indent, width)
    return click.style(text, fg=colour, bold=True if line.sign == "!" else None) if colour else text


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
