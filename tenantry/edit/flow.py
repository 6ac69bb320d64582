"""Edits of mappings and lists in brackets: entries come and go with their commas, and with their line where they have one."""

from __future__ import annotations

import re

from tenantry.edit.lines import Splice, column_of, first_line, line_end, line_start, next_line
from tenantry.edit.tree import Entry, Node

_COMMA = re.compile(r"(?:\s|#[^\n\r\x85\u2028\u2029]*)*,")


def insert(text: str, node: Node, index: int, written: str, newline: str, *, padded: bool) -> list[Splice]:
    """Put an entry before the one at an index, or behind the last."""
    if not node.entries:
        return _only(text, node, written, padded=padded)
    if index == 0:
        first = node.entries[0].start
        between = newline + " " * column_of(text, first) if _has_line(text, node.entries[0]) else " "
        return [Splice(first, first, f"{written},{between}")]
    before = node.entries[index - 1]
    if not _starts_line(text, before):
        return [Splice(before.end, before.end, f", {written}")]
    line = newline + " " * column_of(text, before.start) + written
    if not _has_line(text, before):
        return [Splice(before.end, before.end, f",{line}")]
    comma = _comma(text, before.end)
    at = line_end(text, before.end if comma is None else comma)
    if comma is not None:
        return [Splice(at, at, f"{line},")]
    return [Splice(before.end, before.end, ","), Splice(at, at, line)]


def remove(text: str, node: Node, index: int) -> list[Splice]:
    """Take an entry out that is not the only one."""
    entry = node.entries[index]
    comma = _comma(text, entry.end)
    if _has_line(text, entry):
        start = first_line(text, entry)
        splices = [Splice(start, next_line(text, entry.end if comma is None else comma), "")]
        if comma is None and (own := _comma(text, node.entries[index - 1].end)) is not None:
            splices.append(Splice(own, own + 1, ""))
        return splices
    if index == 0:
        following = node.entries[1].start
        return [Splice(entry.start, following if "#" not in text[entry.end : following] else (comma or 0) + 1, "")]
    before = node.entries[index - 1]
    if "#" not in text[before.end : entry.start]:
        return [Splice(before.end, entry.end, "")]
    own = _comma(text, before.end) or before.end
    return [Splice(own, own + 1, ""), Splice(entry.start, entry.end, "")]


def replace(text: str, entry: Entry, written: str) -> list[Splice]:
    """Write another value."""
    if not entry.colon and entry.key is not None:
        return [Splice(entry.key.end, entry.key.end, f": {written}")]
    if entry.value.start == entry.value.end and entry.key is not None:
        return [Splice(text.index(":", entry.key.end) + 1, entry.value.end, f" {written}")]
    return [Splice(entry.value.start, entry.value.end, written)]


def empty(text: str, node: Node) -> list[Splice]:
    """Leave the brackets alone."""
    return [Splice(_opening(text, node) + 1, node.end - 1, "")]


def _only(text: str, node: Node, written: str, *, padded: bool) -> list[Splice]:
    start = _opening(text, node) + 1
    if text[start : node.end - 1].strip():  # a comment
        return [Splice(node.end - 1, node.end - 1, written)]
    space = " " if padded and node.kind == "mapping" else ""
    return [Splice(start, node.end - 1, f"{space}{written}{space}")]


def _opening(text: str, node: Node) -> int:
    sign = "{" if node.kind == "mapping" else "["
    return text.index(sign, node.start)


def _comma(text: str, at: int) -> int | None:
    """Where the comma behind an entry stands."""
    found = _COMMA.match(text, at)
    return found.end() - 1 if found else None


def _starts_line(text: str, entry: Entry) -> bool:
    return not text[line_start(text, entry.start) : entry.start].strip()


def _has_line(text: str, entry: Entry) -> bool:
    """Whether an entry has its lines for itself."""
    comma = _comma(text, entry.end)
    rest = text[(entry.end if comma is None else comma + 1) : line_end(text, entry.end if comma is None else comma)]
    return _starts_line(text, entry) and (not rest.strip() or rest.lstrip().startswith("#"))
