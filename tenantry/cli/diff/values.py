"""Values that change, as lines with signs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from tenantry.cli.annotated import place, scalar
from tenantry.facts.changes import ChangedValue
from tenantry.facts.fields import Entry, FieldChange
from tenantry.messages.data import ABSENT
from tenantry.messages.inert import short
from tenantry.messages.text import MOST_NAMES, printable

_MOST_TEXT_LINES = 2_000
"""The most lines of a text that is compared line by line. The comparison takes quadratic time."""


class Line(NamedTuple):
    """sign: "!" warning, "-" removed, "+" added, "~" changed, " " none of these; depth: the indentation; comment: a place."""

    sign: str
    text: str
    depth: int = 0
    comment: str = ""


class DisplayLimits(NamedTuple):
    """How much is shown.

    dangers, changes: of a section; values: of a change; text: lines of a text; value, sentence: characters; names: on a line.
    """

    dangers: int = 25
    changes: int = 40
    values: int = 12
    text: int = 6
    value: int = 60
    sentence: int = 500
    names: int = MOST_NAMES


EVERYTHING = DisplayLimits(*(10**9 for _ in DisplayLimits._fields))


def cut(lines: Iterable[Line], most: int) -> list[Line]:
    """The first lines, and how many are left out."""
    lines = list(lines)
    if len(lines) <= most:
        return lines
    sign, _, depth, _ = lines[most]
    return [*lines[:most], Line(sign, f"and {len(lines) - most} more; --all shows them", depth)]


def value_lines(values: Iterable[ChangedValue], limits: DisplayLimits, depth: int) -> Iterator[Line]:
    """The values of a change with their places."""
    values = list(values)
    for value in values[: limits.values]:
        lines = _value(format_field(value.path), value.before, value.after, limits, depth)
        first = next(lines)
        yield first._replace(comment=", ".join(map(place, value.places)))
        yield from lines
    if len(values) > limits.values:
        yield Line(" ", f"and {len(values) - limits.values} more values; --all shows them", depth)


def field_lines(fields: Iterable[FieldChange], limits: DisplayLimits, depth: int = 1) -> Iterator[Line]:
    """The fields of an object."""
    fields = list(fields)
    for field in fields[: limits.values]:
        yield from _value(format_field(field.path), field.before, field.after, limits, depth)
    if len(fields) > limits.values:
        yield Line(" ", f"and {len(fields) - limits.values} more fields; --all shows them", depth)


def _value(key: str, before: Any, after: Any, limits: DisplayLimits, depth: int) -> Iterator[Line]:
    key = shortened(printable(key), 2 * limits.value)
    if before is ABSENT:
        yield Line("+", f"{key}: {shortened(shown(after), limits.value)}", depth)
    elif after is ABSENT:
        yield Line("-", f"{key}: {shortened(shown(before), limits.value)}", depth)
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        yield Line("~", f"{key}:", depth)
        yield from cut(_text_lines(before, after, limits, depth + 1), limits.text)
    else:
        one, other = around(*both(before, after), limits.value)
        yield Line("~", f"{key}: {one} -> {other}", depth)


def format_field(path: tuple[str | int, ...]) -> str:
    """spec.values.objects[ResourceQuota tenantry].spec.hard["requests.cpu"]"""
    text = ""
    for part in path:
        if isinstance(part, int | Entry):
            text += f"[{short(str(part))}]"
        else:
            key = short(part)
            text += f'["{key}"]' if "." in key or not key else f".{key}"
    return printable(text.removeprefix("."))


def both(before: Any, after: Any) -> tuple[str, str]:
    """Both values on one line each. Quotes are shown if only they tell the values apart, such as 1 and '1'."""
    if type(before) is type(after):
        return shown(before), shown(after)
    return printable(scalar(before)), printable(scalar(after))


def shown(value: Any) -> str:
    """A value on one line: a text as it is, anything else as YAML."""
    plain = isinstance(value, str) and value == value.strip() != ""
    return printable(value if plain else scalar(value))


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def around(before: str, after: str, most: int) -> tuple[str, str]:
    """Both values, cut to the part where they differ."""
    if len(before) <= most and len(after) <= most:
        return before, after
    pairs = zip(before, after, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    start = max(same - most // 3, 0)
    lead = "..." if start else ""
    return lead + shortened(before[start:], most), lead + shortened(after[start:], most)


def _text_lines(before: str, after: str, limits: DisplayLimits, depth: int) -> Iterator[Line]:
    """The lines that differ between two texts."""
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        yield Line("~", "ends with another line break", depth)
    elif max(len(old), len(new)) > _MOST_TEXT_LINES:
        yield Line("~", f"{len(old)} lines -> {len(new)} lines", depth)
    else:
        for line in islice(difflib.unified_diff(old, new, n=0, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield Line(line[0], shortened(printable(line[1:]), limits.value), depth)
