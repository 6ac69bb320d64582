"""The syntax tree of a file: what is written where, down to the character.

`source.compose` makes nodes for reading; they lose which value is an alias and where a list's dashes stand. An edit needs both,
so this tree is made of the same parser's events. Lines end with a line feed: see `document`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml
from yaml import events

from tenantry.source.compose import PARSER

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
        self.events: Iterator[Any] = yaml.parse(text, Loader=PARSER)

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
