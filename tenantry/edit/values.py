"""Plain data as YAML, in the style of a file: indentation, lists, quotes and brackets, learned from what stands in it.

A value is a scalar on one line or several, a mapping or a list in brackets, or indented lines. The loader reads back exactly the
data, and so do other readers of YAML.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tenantry.edit.splices import column_of
from tenantry.edit.tree import Node
from tenantry.messages.errors import Path
from tenantry.source.compose import FORMS, YAML_1_1_BOOLEANS

WIDTH = 100
"""Up to which column a new mapping stands on one line."""
Kinds = Mapping[tuple[str, str], Counter[bool]]


@dataclass(frozen=True, slots=True)
class Style:
    """step: spaces by which a mapping is indented; dash: spaces before the dashes of a list below a key.

    padded: whether flow mappings are `{ a: 1 }`.
    kinds: how often mappings and lists of a key have brackets, by ("key", their key) and ("in", the key of their parent).
    """

    step: int = 2
    dash: int = 2
    padded: bool = False
    kinds: Kinds = field(default_factory=dict)

    def flows(self, path: Path, value: Any) -> bool:
        """Whether a new mapping or list is written in brackets, if it fits: as its namesakes are, else if it is simple."""
        for known in _known(path):
            if counts := self.kinds.get(known):
                return counts[True] >= counts[False]
        return path[-1:] == ("when",) or _is_simple(value)  # where an override holds reads as one condition


def style_of(root: Node, text: str) -> Style:
    """The style of a file; the most common one where it has several."""
    steps: Counter[int] = Counter()
    dashes: Counter[int] = Counter()
    padded: Counter[bool] = Counter()
    kinds: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for path, column, node in _collections(root, text):
        for known in _known(path):
            kinds[known][node.flow] += 1
        if node.flow and node.kind == "mapping":
            padded[text[node.start + 1] == " "] += 1
        elif not node.flow and isinstance(path[-1], str):
            counter = steps if node.kind == "mapping" else dashes
            counter[column_of(text, node.entries[0].start) - column] += 1
    del steps[0]
    step, dash = (counter.most_common(1)[0][0] if counter else 2 for counter in (steps, dashes))
    return Style(step, dash, padded=padded[True] > padded[False], kinds=kinds)


def _collections(root: Node, text: str) -> Iterator[tuple[Path, int, Node]]:
    """Mappings and lists below the root that hold something, each with its path and the column of the entry that holds it."""
    stack: list[tuple[Path, Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        for index, entry in enumerate(node.entries):
            if entry.value.entries:
                inner = (*path, entry.key.text if entry.key else index)
                yield inner, column_of(text, entry.start), entry.value
                stack.append((inner, entry.value))


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


_UNSAFE = re.compile(r"""^[\s\-?:,\[\]{}#&*!|>'"%@`]|[\s:]$|: |:\t|\s\#|[,\[\]{}]|^(?:---|\.\.\.)""")
"""What a text without quotes cannot hold, or must not begin or end with. Braces are quoted everywhere, so that placeholders look
alike."""
_DASHED = re.compile(r"-[^\s,\[\]{}#]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\b": "\\b", "\x1b": "\\e"}
_OTHER_READERS: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.SafeLoader.yaml_implicit_resolvers


def flow(value: Any, style: Style) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        inner = ", ".join(flow_entry(str(key), inner_value, style) for key, inner_value in value.items())
        space = " " if style.padded and inner else ""
        return f"{{{space}{inner}{space}}}"
    if isinstance(value, list):
        return f"[{', '.join(flow(item, style) for item in value)}]"
    return scalar(value)


def flow_entry(key: str, value: Any, style: Style) -> str:
    """`key: value` on one line."""
    return f"{scalar(key)}: {flow(value, style)}"


def entry(path: Path, value: Any, style: Style, column: int) -> list[str]:
    """The lines of an entry of a block mapping or list, without their indentation. column: where its key or dash will stand."""
    head = f"{scalar(path[-1])}:" if isinstance(path[-1], str) else "-"
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
    return [f" {flow(value, style)}"]


def indented(lines: list[str], step: int) -> list[str]:
    """The lines behind some spaces; empty lines stay empty."""
    return [" " * step + line if line else "" for line in lines]


def _is_block(path: Path, value: Any, style: Style, column: int) -> bool:
    """Whether a value is written without brackets: its namesakes are, or it does not fit on a line."""
    if not isinstance(value, dict | list) or not value:
        return False
    if _has_lines(value):
        return True
    width = column + len(str(path[-1])) + 2 + len(flow(value, style)) if path else len(flow(value, style))
    return width > WIDTH or not style.flows(path, value)


def _has_lines(value: Any) -> bool:
    """Whether a value holds a text of several lines, which is easier to read without brackets."""
    if isinstance(value, dict | list):
        return any(map(_has_lines, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and block(value) is not None


def scalar(value: Any, like: str = "") -> str:
    """A scalar on one line. like: the quotes to use where the value is a string and they can hold it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if like == "'" and _is_printable(value):
        return "'" + value.replace("'", "''") + "'"
    return value if not like and is_plain(value) else f'"{"".join(map(_escaped, value))}"'


def is_plain(text: str) -> bool:
    """Whether a string can be written without quotes, in a flow mapping too, and is a string for every reader."""
    return bool(
        text
        and _is_printable(text)
        and not (_UNSAFE.search(text) and not (_DASHED.match(text) and not _UNSAFE.search(text[1:])))
        and text.lower() not in YAML_1_1_BOOLEANS
        and not any(form.match(text) for form, _ in FORMS.values())
        and not any(form.match(text) for _, form in _OTHER_READERS.get(text[0], ()))
        and not text.startswith("<<")
    )


def block(text: str) -> list[str] | None:
    """A text of several lines as a block scalar: its sign and its lines; None if only quotes can hold it exactly."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    if (
        len(lines) + len(text) - len(body) < 2
        or not all(map(_is_printable_line, lines))
        or not lines[0].strip()
        or lines[0][0] in " \t#"
        or not lines[-1].strip()
    ):
        return None
    return ["|" if body != text else "|-", *lines]


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_printable(text: str) -> bool:
    return all(char.isprintable() for char in text)


def _is_printable_line(line: str) -> bool:
    return line == line.rstrip() and all(char.isprintable() or char == "\t" for char in line)
