"""Output that looks like YAML, with comments at the ends of lines, aligned in one column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import click
import yaml

from tenantry.fleet.merge import Origin, Value
from tenantry.messages.redact import shorten
from tenantry.messages.text import printable

_WIDEST = 50
"""Comments are not aligned with lines that are longer than this."""


_MANY = 3
"""How many entries a list has that nobody wrote, and that is shown whole."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the output; comment: without `#`; colour: of the text, not of the comment."""

    text: str
    comment: str = ""
    colour: str | None = None
    bold: bool = False


def annotated(lines: Iterable[Line]) -> str:
    """The lines with aligned comments and colours, without a newline at the end."""
    lines = list(lines)
    column = max((len(line.text) for line in lines if line.comment and len(line.text) <= _WIDEST), default=0)
    return "\n".join(_finished(line, column) for line in lines)


def _finished(line: Line, column: int) -> str:
    text = click.style(line.text, fg=line.colour, bold=line.bold or None) if line.colour or line.bold else line.text
    if not line.comment:
        return text
    gap = " " * (max(column - len(line.text), 0) + 2) if line.text else ""
    return text + gap + click.style(f"# {printable(line.comment)}", dim=True)


def value_lines(values: Iterable[Value], indent: int = 0) -> Iterator[Line]:
    """Lines for the values, nested by their paths as in the file."""
    above: tuple[str | int, ...] = ()
    for value in values:
        path = value.path
        shared = next((depth for depth, (a, b) in enumerate(zip(above, path, strict=False)) if a != b), len(above))
        above, dashes = path, ""
        for depth, part in enumerate(path[shared:], shared):
            column = indent + 2 * depth
            if isinstance(part, int):  # on the same line as the first entry in it
                dashes += "- "
                head = " " * (column + 2 - len(dashes)) + dashes
            else:
                head = " " * (column - len(dashes)) + dashes + f"{scalar(part)}: "
                dashes = ""
            if depth == len(path) - 1:
                yield from _value(head, value, column + 2)
            elif not dashes:
                yield Line(head.rstrip())


def _value(head: str, value: Value, indent: int) -> Iterator[Line]:
    colour = "red" if value.value is None else None
    if isinstance(value.value, str) and "\n" in value.value:
        chomped = "" if value.value.endswith("\n") else "-"
        yield Line(f"{head}|{chomped}", comment_of(value), colour)
        yield from (Line(f"{' ' * indent}{printable(line)}") for line in value.value.rstrip("\n").split("\n"))
    else:
        # Nobody wrote a default, so the first of many say enough.
        many = isinstance(value.value, list) and len(value.value) > _MANY and not value.origin
        shown, more = (value.value[:1], f", and {len(value.value) - 1} more") if many else (value.value, "")
        yield Line(f"{head}{scalar(shown)}", f"{comment_of(value)}{more}", colour)


def scalar(value: Any) -> str:
    """A value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=1_000_000, allow_unicode=True)
    text = text.removesuffix("\n").removesuffix("\n...")
    return json.dumps(value, ensure_ascii=False) if "\n" in text else text


def comment_of(value: Value) -> str:
    """The comment of a value: its origin, the text before placeholders were filled in, and the `null` that removed a value."""
    if value.value is None and value.removed:
        return f"removed at {place(value.removed)}"
    text = place(value.origin) if value.origin else "default"
    if value.written is not None:
        text += f", from {shorten(scalar(value.written))}"
    if value.removed:
        text += f"; null at {place(value.removed)}"
    return text


def place(origin: Origin) -> str:
    """`file:line:column (level)`."""
    return f"{origin.location} ({origin.level})"
