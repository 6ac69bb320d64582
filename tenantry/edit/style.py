"""How a file is written: indentation, lists, quotes and brackets, learned from what stands in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.edit.lines import BREAKS, column_of
from tenantry.edit.tree import Node
from tenantry.messages.errors import Path

WIDTH = 100
"""Up to which column a new mapping stands on one line."""

Kinds = Mapping[tuple[str, str], Counter[bool]]


@dataclass(frozen=True, slots=True)
class Style:
    """step: spaces by which a mapping is indented; dash: spaces before the dashes of a list below a key.

    quoted: whether every key and string is in double quotes, as in JSON. padded: whether flow mappings are `{ a: 1 }`.
    closed: whether the file ends with a line break, which a text over several lines may need.
    kinds: how often mappings and lists of a key have brackets, by ("key", their key) and ("in", the key of their parent).
    """

    step: int = 2
    dash: int = 2
    quoted: bool = False
    padded: bool = False
    closed: bool = True
    kinds: Kinds = field(default_factory=dict)

    @property
    def writes_lines(self) -> bool:
        """Whether a text of several lines is written as such, not in quotes."""
        return self.closed and not self.quoted

    def flows(self, path: Path, value: Any) -> bool:
        """Whether a new mapping or list is written in brackets, if it fits: as its namesakes are, else if it is simple."""
        for known in _known(path):
            if counts := self.kinds.get(known):
                return counts[True] >= counts[False]
        return _is_simple(value)


def style_of(root: Node | None, text: str) -> Style:
    """The style of a file; the most common one where it has several."""
    if root is None:
        return Style()
    steps: Counter[int] = Counter()
    dashes: Counter[int] = Counter()
    padded: Counter[bool] = Counter()
    kinds: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for path, column, node in _collections(root, text):
        if node.entries and not path:
            continue
        if node.flow and node.kind == "mapping" and node.entries:
            padded[text[node.start + 1] == " "] += 1
        if node.entries:
            for known in _known(path):
                kinds[known][node.flow] += 1
        if node.entries and not node.flow and isinstance(path[-1], str):
            counter = steps if node.kind == "mapping" else dashes
            counter[column_of(text, node.entries[0].start) - column] += 1
    return Style(
        step=_most(steps, 2, least=1),
        dash=_most(dashes, 2),
        quoted=is_quoted(root, text),
        padded=padded[True] > padded[False],
        closed=text[-1:] in BREAKS,
        kinds=kinds,
    )


def is_quoted(node: Node, text: str) -> bool:
    """Whether all keys of a mapping are in double quotes, as in JSON."""
    keys = [entry.key for entry in node.entries if entry.key]
    return bool(keys) and all(text[key.start : key.start + 1] == '"' for key in keys)


def _collections(root: Node, text: str) -> Iterator[tuple[Path, int, Node]]:
    """Mappings and lists, each with its path and the column of the entry that holds it."""
    stack: list[tuple[Path, int, Node]] = [((), 0, root)]
    while stack:
        path, column, node = stack.pop()
        yield path, column, node
        for index, entry in enumerate(node.entries):
            if entry.value.entries:
                part = entry.key.text if entry.key else index
                stack.append(((*path, part), column_of(text, entry.start), entry.value))


def _known(path: Path) -> Iterator[tuple[str, str]]:
    """Under which names the style of a value is remembered, the nearest first."""
    if path and isinstance(path[-1], str):
        yield "key", path[-1]
    if len(path) > 1:
        yield "in", str(path[-2]) if isinstance(path[-2], str) else str(path[-3])


def _most(counter: Counter[Any], default: Any, least: Any = 0) -> Any:
    found = [each for each, _ in counter.most_common() if each >= least]
    return found[0] if found else default


def _is_simple(value: Any) -> bool:
    """Whether a value holds at most two levels, and each mapping at most one mapping or list."""
    return _depth(value) <= 2 and len(_inner(value)) <= 1


def _inner(value: Any) -> list[Any]:
    return [each for each in (value.values() if isinstance(value, dict) else value) if isinstance(each, dict | list)]


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, _inner(value)), default=0) if isinstance(value, dict | list) else 0
