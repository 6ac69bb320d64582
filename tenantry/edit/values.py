"""Plain data as YAML, in the style of a file: indentation, lists and brackets, learned from what stands in it.

A value is a scalar on one line or several, a mapping or a list in brackets, or indented lines. The loader reads back exactly the
data, and so do other readers of YAML.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from tenantry.edit.splices import Node, column_of
from tenantry.messages.errors import Path
from tenantry.source.compose import FORMS

WIDTH = 100
"""Up to which column a new mapping stands on one line."""


Kinds = Mapping[tuple[str, str], Counter[bool]]


@dataclass(frozen=True, slots=True)
class Style:
    """step: spaces by which a mapping is indented; dash: spaces before the dashes of a list below a key.

    kinds: how often mappings and lists of a key have brackets, by ("key", their key) and ("in", the key of their parent).
    """

    step: int = 2
    dash: int = 2
    kinds: Kinds = field(default_factory=dict)

    def flows(self, path: Path, value: Any) -> bool:
        """Whether a new mapping or list is written in brackets, if it fits: as its namesakes are, else if it is simple."""
        for known in _known(path):
            if counts := self.kinds.get(known):
                return counts[True] >= counts[False]
        return path[-1:] == ("when",) or _is_simple(value)  # where an override holds reads as one condition


def style_of(root: Node, text: str) -> Style:
    """The style of a file; the most common one where it has several."""
    steps, dashes, kinds = Counter[int](), Counter[int](), defaultdict[tuple[str, str], Counter[bool]](Counter)
    nodes: list[tuple[Path, Node]] = [((), root)]
    for path, node in nodes:  # grows while it is walked
        for index, entry in enumerate(node.entries):
            value, inner = entry.value, (*path, entry.key.text if entry.key else index)
            nodes.append((inner, value))
            for known in _known(inner) if value.entries else ():
                kinds[known][value.flow] += 1
            if entry.key and value.entries and not value.flow:
                counter = steps if value.kind == "mapping" else dashes
                counter[column_of(text, value.entries[0].start) - column_of(text, entry.start)] += 1
    step, dash = (counter.most_common(1)[0][0] if counter else 2 for counter in (steps, dashes))
    return Style(step, dash, kinds)


def _known(path: Path) -> Iterator[tuple[str, str]]:
    """Under which names the style of a value is remembered, the nearest first."""
    if path and isinstance(path[-1], str):
        yield "key", path[-1]
    if len(path) > 1:
        yield "in", str(path[-2]) if isinstance(path[-2], str) else str(path[-3])


def _is_simple(value: Any) -> bool:
    """Whether a value holds at most two levels, and each mapping at most one mapping or list."""
    return depth_of(value) <= 2 and len(_inner(value)) <= 1


def _inner(value: Any) -> list[Any]:
    return [inner for inner in (value.values() if isinstance(value, dict) else value) if isinstance(inner, dict | list)]


def depth_of(value: Any) -> int:
    """How many mappings and lists lie within each other."""
    return 1 + max(map(depth_of, _inner(value)), default=0) if isinstance(value, dict | list) else 0


_OF_BRACKETS = re.compile(r"^[?:]|[,\[\]{}]")


class _Dumper(yaml.SafeDumper):
    """Writes double quotes where a text needs some, and repeated values out."""

    def ignore_aliases(self, _: Any) -> bool:
        return True

    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        # An address needs no quotes in brackets either.
        analysis.allow_flow_plain = analysis.allow_block_plain and not _OF_BRACKETS.search(scalar)
        return analysis

    def choose_scalar_style(self) -> str:
        style, event = str(super().choose_scalar_style()), cast("yaml.ScalarEvent", self.event)
        return '"' if style == "'" and not event.style else style


for _tag, (_form, _starts) in FORMS.items():  # what our reader takes for a number, beside what others do
    _Dumper.add_implicit_resolver(_tag, _form, _starts)


def flow(value: Any, quote: str = "") -> str:
    """A value on one line. quote: of a text, the quotes to use if they can hold it."""
    quote = "" if "\n" in str(value) else quote
    # In brackets, texts with braces get quotes, so that all placeholders look alike.
    text = _dumped([value], quote, is_unicode=True)
    return (text if text.isprintable() else _dumped([value], quote, is_unicode=False))[1:-1]


def _dumped(data: Any, quote: str, *, is_unicode: bool) -> str:
    text: str = yaml.dump(
        data,
        Dumper=_Dumper,
        default_flow_style=True,
        default_style=quote or None,
        sort_keys=False,
        allow_unicode=is_unicode,
        width=math.inf,
    )
    return text.removesuffix("\n")


def entry(path: Path, value: Any, style: Style, column: int) -> list[str]:
    """The lines of an entry of a block mapping or list, without their indentation. column: where its key or dash will stand."""
    head = f"{flow(path[-1])}:" if isinstance(path[-1], str) else "-"
    first, *others = behind(path, value, style, column)
    return [head + first, *others]


def behind(path: Path, value: Any, style: Style, column: int) -> list[str]:
    """The rest of the line behind an entry's key or dash, and the lines below it. column: where the key or the dash stands."""
    is_item = isinstance(path[-1], int)
    if _is_block(path, value, style, column):
        indent = 2 if is_item else style.step if isinstance(value, dict) else style.dash
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        lines = [line for part, inner in entries for line in entry((*path, part), inner, style, column + indent)]
        return [f" {lines[0]}", *indented(lines[1:], 2)] if is_item else ["", *indented(lines, indent)]
    if isinstance(value, str) and (block_lines := block(value)):
        sign, *others = block_lines
        return [f" {sign}", *indented(others, style.step)]
    return [f" {flow(value)}"]


def indented(lines: list[str], step: int) -> list[str]:
    """The lines behind some spaces; empty lines stay empty."""
    return [" " * step + line if line else "" for line in lines]


def _is_block(path: Path, value: Any, style: Style, column: int) -> bool:
    """Whether a value is written without brackets: its namesakes are, or it does not fit on a line."""
    if not isinstance(value, dict | list) or not value:
        return False
    if _has_lines(value):
        return True
    width = column + len(str(path[-1])) + 2 + len(flow(value)) if path else len(flow(value))
    return width > WIDTH or not style.flows(path, value)


def _has_lines(value: Any) -> bool:
    """Whether a value holds a text of several lines, which is easier to read without brackets."""
    if isinstance(value, dict | list):
        return any(map(_has_lines, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and block(value) is not None


def block(text: str) -> list[str] | None:
    """A text of several lines as a block scalar: its sign and its lines; None if only quotes can hold it exactly."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    if (
        len(lines) + len(text) - len(body) < 2
        or any(line != line.rstrip() or not line.replace("\t", "").isprintable() for line in lines)
        or not lines[0].strip()
        or lines[0][0] in " \t#"
        or not lines[-1].strip()
    ):
        return None
    return ["|" if body != text else "|-", *lines]
