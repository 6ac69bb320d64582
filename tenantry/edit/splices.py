"""What is written where in a file, down to the character, and edits of mappings and lists as replacements in the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import yaml
from yaml import events

from tenantry.kube.yaml_text import LOADER

Kind = Literal["scalar", "mapping", "list", "alias"]

_EMPTY_LINES = re.compile(r"(?:\n *)+\Z")
_GAP = re.compile(r"(?:\s|#[^\n]*)*")
"""White space and comments."""


@dataclass(slots=True, eq=False)
class Node:
    """A value or a key. start, end: its characters, with anchor and tag and without the line break of a block scalar.

    text: of a scalar, the string that it stands for; of an alias, the anchor's name. style: of a scalar, its quote or `|`, `>`.
    flow: of a mapping or a list, whether it has brackets.
    """

    kind: Kind
    start: int
    end: int
    text: str = ""
    style: str = ""
    flow: bool = False
    entries: list[Entry] = field(default_factory=list)

    def entry(self, part: str | int) -> Entry | None:
        """The entry of a mapping's key, or of a list's index."""
        if self.kind == "list":
            return self.entries[part] if isinstance(part, int) and 0 <= part < len(self.entries) else None
        return next((entry for entry in self.entries if entry.key and entry.key.text == part), None)


@dataclass(slots=True, eq=False)
class Entry:
    """An entry of a mapping or a list. start: of its key, or of the dash of a block list."""

    start: int
    key: Node | None
    value: Node

    @property
    def end(self) -> int:
        return self.value.end


def tree_of(text: str) -> Node | None:
    """The root of a text that is known to be one valid YAML document; None if it is empty."""
    builder = _Builder(text)
    for event in builder.events:
        if isinstance(event, events.DocumentStartEvent):
            return builder.node(next(builder.events))
    return None


class _Builder:
    """Reads one node after the other from the events of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.events: Iterator[Any] = yaml.parse(text, Loader=LOADER)

    def node(self, event: Any) -> Node:
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, events.AliasEvent):
            return Node("alias", start, end, text=event.anchor or "")
        if isinstance(event, events.ScalarEvent):
            if event.style in ("|", ">"):  # Empty lines below it belong to it only if its sign has a plus.
                sign = self.text[start:end].partition("\n")[0].partition("#")[0]
                last = re.search(r"\n\Z" if "+" in sign else _EMPTY_LINES, self.text[start:end])
                end = start + last.start() if last else end
            return Node("scalar", start, end, event.value, event.style or "")
        kind: Kind = "mapping" if isinstance(event, events.MappingStartEvent) else "list"
        flow = bool(event.flow_style)
        node = Node(kind, start, end, flow=flow)
        for inner in self.events:
            if isinstance(inner, events.CollectionEndEvent):
                of_entries = node.entries[-1].end if node.entries else start
                node.end = inner.end_mark.index if flow and inner.end_mark else of_entries
                break
            self._add(node, self.node(inner))
        return node

    def _add(self, node: Node, first: Node) -> None:
        if node.kind == "mapping":
            node.entries.append(Entry(first.start, first, self.node(next(self.events))))
        else:
            before = node.entries[-1].end if node.entries else node.start
            node.entries.append(Entry(first.start if node.flow else self._dash(before, first.start), None, first))

    def _dash(self, at: int, end: int) -> int:
        """Where the dash of an entry stands between two values, outside of comments."""
        while at < end:
            at = max(at, _GAP.match(self.text, at, end).end())  # type: ignore[union-attr]  # it matches the empty text
            if self.text[at : at + 1] == "-" and at < end:
                return at
            at += 1
        return end


class Splice(NamedTuple):
    """Replace the characters from start to end by a text."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text after all replacements, whose places are those of the text before."""
    parts, at = [], 0
    for start, end, new in sorted(splices, key=lambda splice: splice[:2]):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


# --- lines --------------------------------------------------------------------------------------------------------------


def line_start(text: str, at: int) -> int:
    """Where the line of a character begins."""
    return text.rfind("\n", 0, at) + 1


def column_of(text: str, at: int) -> int:
    """The column of a character, from 0."""
    return at - line_start(text, at)


def next_line(text: str, at: int) -> int:
    """Where the line after that of a character begins; the end of the text after the last line."""
    return text.find("\n", at) + 1 or len(text)


def first_line(text: str, entry: Entry, *, header: bool = False) -> int:
    """Where the lines of an entry begin, with the comments directly above it.

    header: whether comments at the top of the file belong to the file, not to the entry.
    """
    start = above = line_start(text, entry.start)
    comment = " " * (entry.start - start) + "#"
    while above and text.startswith(comment, up := line_start(text, above - 1)):
        above = up
    is_header = header and (not above or text.startswith(("---", "%"), line_start(text, above - 1)))
    return start if is_header else above


def after_lines(text: str, entry: Entry) -> int:
    """Where the lines of an entry end: behind deeper comments below it, which are about what it holds."""
    end = below = next_line(text, entry.end)
    column = column_of(text, entry.start)
    while below < len(text):
        line = text[below : next_line(text, below)]
        if line.strip() and not (line.lstrip().startswith("#") and len(line) - len(line.lstrip(" ")) > column):
            break
        below += len(line)
        end = below if line.strip() else end
    return end


def _is_inline(text: str, entry: Entry) -> bool:
    """Whether something stands before an entry on its line, such as the dash of a list."""
    return bool(text[line_start(text, entry.start) : entry.start].strip())


def _behind_head(text: str, entry: Entry) -> int:
    """The place behind the colon of a block mapping's entry, or behind the dash of a list's."""
    return entry.start + 1 if entry.key is None else text.index(":", entry.key.end) + 1


def _is_below(text: str, entry: Entry) -> bool:
    """Whether the value of an entry is a mapping or list without brackets on the lines below its head."""
    is_block = entry.value.kind in ("mapping", "list") and not entry.value.flow
    return is_block and next_line(text, _behind_head(text, entry)) <= entry.value.start


def _above_empty(text: str, start: int) -> int:
    """Where the empty lines directly above a line begin."""
    while start and not text[(up := line_start(text, start - 1)) : start].strip():
        start = up
    return start


def _below_empty(text: str, start: int) -> int:
    """Where the empty lines that begin at a line end."""
    while start < len(text) and not text[start : next_line(text, start)].strip():
        start = next_line(text, start)
    return start


def _joined(lines: Sequence[str], column: int) -> str:
    return "".join(f"{' ' * column}{line}\n" if line else "\n" for line in lines)


def _usual_gap(text: str, node: Node, *, root: bool) -> int:
    """How many empty lines stand between the entries of a mapping or list, as a rule."""
    starts = [first_line(text, entry) for entry in node.entries[1:]]
    gaps = Counter(text.count("\n", _above_empty(text, start), start) for start in starts)
    return gaps.most_common(1)[0][0] if gaps else int(root)


# --- without brackets ---------------------------------------------------------------------------------------------------


def insert_lines(text: str, node: Node, index: int, lines: Sequence[str], *, root: bool) -> list[Splice]:
    """Put an entry before the one at an index, or behind the last. lines: the entry's, without indentation."""
    first = node.entries[0]
    column = column_of(text, first.start)
    written = _joined(lines, column)
    if index == 0 and _is_inline(text, first):
        return [Splice(first.start, first.start, written.lstrip(" ") + " " * column)]
    if index == 0:
        at = first_line(text, first, header=root)
        return [Splice(at, at, written + "\n" * _usual_gap(text, node, root=root))]
    at = after_lines(text, node.entries[index - 1])
    following = index < len(node.entries)
    empty = text.count("\n", at, _below_empty(text, at)) if following else _usual_gap(text, node, root=root)
    return [Splice(at, at, "\n" * empty + written)]


def remove_lines(text: str, node: Node, index: int, *, root: bool) -> list[Splice]:
    """Take an entry out that is not the only one."""
    entry = node.entries[index]
    if _is_inline(text, entry):
        following = node.entries[index + 1].start
        commented = "#" in text[entry.end : following]
        return [Splice(entry.start, next_line(text, entry.end) - 1 if commented else following, "")]
    start, end = first_line(text, entry, header=root and index == 0), after_lines(text, entry)
    above, below = _above_empty(text, start), _below_empty(text, end)
    if index == len(node.entries) - 1:
        return [Splice(above, end, "")]
    if index == 0 or text.count("\n", above, start) > text.count("\n", end, below):
        return [Splice(start, below, "")]
    return [Splice(above, end, "")]


def replace_lines(text: str, entry: Entry, lines: Sequence[str]) -> list[Splice]:
    """Write another value. lines: the rest of the entry's line, and those below it, as `values.behind` gives them.

    A comment behind the head, or behind the sign of a text over several lines, stays.
    """
    value, head = entry.value, _behind_head(text, entry)
    first, below = lines[0], _joined(lines[1:], column_of(text, entry.start))
    if _is_below(text, entry):
        start, end = next_line(text, head), after_lines(text, value.entries[-1])
        return [Splice(head, head, first), Splice(start, end, below)]
    if value.style in ("|", ">"):
        _, mark, comment = text[value.start : next_line(text, value.start) - 1].partition(" #")
        return [Splice(head, next_line(text, value.end), f"{first}{mark}{comment}\n{below}")]
    end = max(value.end, head)
    if value.end > head and not below:
        return [Splice(value.start, value.end, first.removeprefix(" "))]
    at = next_line(text, end)
    return [Splice(head, end, first), Splice(at, at, below)]


# --- in brackets --------------------------------------------------------------------------------------------------------


def has_comment(text: str, node: Node) -> bool:
    """Whether a comment stands between the entries in brackets, or beside the brackets' ends."""
    ends = [node.start, *(entry.end for entry in node.entries)]
    starts = [*(entry.start for entry in node.entries), node.end]
    return any("#" in text[start:end] for start, end in zip(ends, starts, strict=True))


def insert_in_brackets(node: Node, index: int, written: str) -> list[Splice]:
    """Put an entry before the one at an index, or behind the last."""
    if index == 0:
        first = node.entries[0].start
        return [Splice(first, first, f"{written}, ")]
    end = node.entries[index - 1].end
    return [Splice(end, end, f", {written}")]


def remove_from_brackets(node: Node, index: int) -> list[Splice]:
    """Take an entry out that is not the only one."""
    entries = node.entries
    if index == 0:
        return [Splice(entries[0].start, entries[1].start, "")]
    return [Splice(entries[index - 1].end, entries[index].end, "")]
