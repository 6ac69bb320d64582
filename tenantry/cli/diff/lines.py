"""A difference as lines with signs, for terminals and pull requests."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from tenantry.cli.annotated import scalar
from tenantry.compare.diff import Changed, Diff, Status
from tenantry.compare.fields import Entry, FieldChange
from tenantry.compare.story import Alike, alike, consequences, others
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import ABSENT
from tenantry.messages.inert import short
from tenantry.messages.text import MOST_NAMES, listed, printable

_MOST_TEXT_LINES = 2_000
"""The most lines of a text that is compared line by line. The comparison takes quadratic time."""


class Line(NamedTuple):
    """sign: "!" warning, "-" removed, "+" added, "~" changed, " " none of these; depth: the indentation."""

    sign: str
    text: str
    depth: int = 0


class DisplayLimits(NamedTuple):
    """How much is shown: lines of a section, fields of an object, lines of a text, characters of a value, names on a line."""

    lines: int = 25
    fields: int = 8
    text: int = 6
    value: int = 60
    names: int = MOST_NAMES


_ENDLESS = 10**9
EVERYTHING = DisplayLimits(*(_ENDLESS for _ in DisplayLimits._fields))


def heading(diff: Diff) -> str:
    """dev: 3 added, 1 changed, 2 removed"""
    what = {Status.ADDED: " (new)", Status.REMOVED: " (no longer declared)"}.get(diff.status, "")
    return f"{diff.environment}{what}: {counts(diff)}"


def counts(diff: Diff) -> str:
    """The numbers of added, changed and removed objects, or "no difference"."""
    if not diff:
        return "no difference"
    return f"{len(diff.added.objects)} added, {len(diff.changed)} changed, {len(diff.removed.objects)} removed"


def meaning(diff: Diff, limits: DisplayLimits) -> list[Line]:
    """The consequences as sentences."""
    told = [Line(sign.value, text) for sign, text in consequences(diff)]
    return [line for sign in "!-+" for line in _cut([each for each in told if each.sign == sign], limits.lines)]


def objects(diff: Diff, limits: DisplayLimits) -> list[Line]:
    """Added and removed objects, and changed fields. Without limits, also objects that the sentences cover."""
    whole = limits is EVERYTHING
    removed = diff.removed.objects if whole else others(diff, diff.removed)
    added = diff.added.objects if whole else others(diff, diff.added)
    lines = [*_cut(_object_lines("-", removed), limits.lines), *_cut(_object_lines("+", added), limits.lines)]
    return [*lines, *changes(diff.changed, limits)]


def changes(changed: Iterable[Changed], limits: DisplayLimits) -> list[Line]:
    """Changed objects and their fields. Objects that change in the same way are together."""
    groups = alike(changed)
    lines = [line for group in groups[: limits.lines] for line in _group(group, limits)]
    if len(groups) > limits.lines:
        left = sum(len(group.ids) for group in groups[limits.lines :])
        lines.append(Line("~", f"and {left} more objects; --all shows them"))
    return lines


def _cut(lines: Iterable[Line], most: int) -> list[Line]:
    lines = list(lines)
    if len(lines) <= most:
        return lines
    sign, _, depth = lines[most]
    return [*lines[:most], Line(sign, f"and {len(lines) - most} more; --all shows them", depth)]


def _object_lines(sign: str, objects: Iterable[KubeObject]) -> Iterator[Line]:
    return (Line(sign, str(object.id)) for object in objects)


def _group(group: Alike, limits: DisplayLimits) -> Iterator[Line]:
    names = (f"{id.namespace}/{id.name}" if id.namespace else id.name for id in group.ids)
    yield Line("~", f"{group.ids[0].kind} {listed(names, limits.names)}")
    fields = group.example.fields
    for field in fields[: limits.fields]:
        yield from _field(field, limits)
    if len(fields) > limits.fields:
        yield Line(" ", f"and {len(fields) - limits.fields} more fields; --all shows them", 1)


def _field(field: FieldChange, limits: DisplayLimits) -> Iterator[Line]:
    path = format_field(field.path)
    before, after = field.before, field.after
    if before is ABSENT:
        yield Line("+", f"{path}: {_short(_text(after), limits.value)}", 1)
    elif after is ABSENT:
        yield Line("-", f"{path}: {_short(_text(before), limits.value)}", 1)
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        yield Line("~", f"{path}:", 1)
        yield from _cut(_text_lines(before, after, limits), limits.text)
    else:
        one, other = _around(_text(before), _text(after), limits.value)
        yield Line("~", f"{path}: {one} -> {other}", 1)


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


def _text(value: Any) -> str:
    return printable(scalar(value))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _around(before: str, after: str, most: int) -> tuple[str, str]:
    """Both values, cut to the part where they differ."""
    if len(before) <= most and len(after) <= most:
        return before, after
    same = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = max(same - most // 3, 0)
    lead = "..." if start else ""
    return lead + _short(before[start:], most), lead + _short(after[start:], most)


def _text_lines(before: str, after: str, limits: DisplayLimits) -> Iterator[Line]:
    """The lines that differ between two texts."""
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        yield Line("~", "ends with another line break", 2)
    elif max(len(old), len(new)) > _MOST_TEXT_LINES:
        yield Line("~", f"{len(old)} lines -> {len(new)} lines", 2)
    else:
        for line in islice(difflib.unified_diff(old, new, n=0, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield Line(line[0], _short(printable(line[1:]), limits.value), 2)
