"""Edits of mappings and lists, as replacements between two places of the text.

Without brackets, whole lines come and go, with their comments and regular empty lines. In brackets, entries come and go with
their commas, and with their line where they have one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tenantry.edit.lines import (
    Splice,
    above_empty,
    after_lines,
    behind_head,
    below_empty,
    column_of,
    count_lines,
    first_line,
    is_below,
    is_inline,
    is_open,
    line_end,
    line_start,
    next_line,
)
from tenantry.edit.tree import Entry, Node

_COMMA = re.compile(r"(?:\s|#[^\n\r\x85\u2028\u2029]*)*,")

# --- without brackets ---------------------------------------------------------------------------------------------------


def insert_lines(text: str, node: Node, index: int, lines: Sequence[str], newline: str, *, root: bool) -> list[Splice]:
    """Put an entry before the one at an index, or behind the last. lines: the entry's, without indentation."""
    column = column_of(text, node.entries[0].start)
    if index == 0 and is_inline(text, node.entries[0]):
        first = node.entries[0].start
        return [Splice(first, first, _joined(lines, column, newline).lstrip(" ") + newline + " " * column)]
    written = _joined(lines, column, newline)
    if index == 0:
        at = first_line(text, node.entries[0], header=root)
        return [Splice(at, at, written + newline * (1 + _usual_gap(text, node, root=root)))]
    at = after_lines(text, node.entries[index - 1])
    following = index < len(node.entries)
    empty = count_lines(text, at, below_empty(text, at)) if following else _usual_gap(text, node, root=root)
    if is_open(text, at):
        return [Splice(at, at, newline * (1 + empty) + written)]
    return [Splice(at, at, newline * empty + written + newline)]


def remove_lines(text: str, node: Node, index: int, *, root: bool) -> list[Splice]:
    """Take an entry out that is not the only one."""
    entry = node.entries[index]
    if is_inline(text, entry):
        following = node.entries[index + 1]
        commented = "#" in text[entry.end : following.start]
        return [Splice(entry.start, line_end(text, entry.end) if commented else following.start, "")]
    start, end = first_line(text, entry, header=root and index == 0), after_lines(text, entry)
    above, below = above_empty(text, start), below_empty(text, end)
    if index == len(node.entries) - 1:
        return [Splice(*_without_break(text, above, end), "")]
    if index == 0 or count_lines(text, above, start) > count_lines(text, end, below):
        return [Splice(start, below, "")]
    return [Splice(above, end, "")]


def replace_lines(text: str, entry: Entry, lines: Sequence[str], newline: str) -> list[Splice]:
    """Write another value. lines: the rest of the entry's line, and those below it, as `values.behind` gives them."""
    value, head = entry.value, behind_head(text, entry)
    first, others = lines[0], _joined(lines[1:], column_of(text, entry.start), newline)
    if is_below(text, entry):
        start, end = next_line(text, head), after_lines(text, value.entries[-1])
        if not others:
            start, end = _without_break(text, start, end)
        elif not is_open(text, end):
            others += newline
        return [Splice(head, head, first), Splice(start, end, others)]
    if value.style in ("|", ">"):
        return _of_block_scalar(text, entry, first, others, newline)
    if value.end > head and not others:
        return [Splice(value.start, value.end, first.removeprefix(" "))]
    splices = [Splice(head, max(value.end, head), first)]
    if others:
        at = line_end(text, max(value.end, head))
        splices.append(Splice(at, at, newline + others))
    return splices


def empty_lines(text: str, entry: Entry, brackets: str) -> list[Splice]:
    """Leave `{}` or `[]` where a mapping or list without brackets stands."""
    if not is_below(text, entry):
        return [Splice(entry.value.start, entry.value.end, brackets)]
    head = behind_head(text, entry)
    start, end = _without_break(text, next_line(text, head), after_lines(text, entry.value.entries[-1]))
    return [Splice(head, head, f" {brackets}"), Splice(start, end, "")]


def _of_block_scalar(text: str, entry: Entry, first: str, others: str, newline: str) -> list[Splice]:
    """A text over several lines gives way; the comment behind its sign stays."""
    head, end = behind_head(text, entry), entry.value.end
    sign = line_end(text, entry.value.start)
    _, mark, comment = text[entry.value.start : sign].partition(" #")
    return [Splice(head, end, first + (f" #{comment}" if mark else "") + (newline + others if others else ""))]


def _joined(lines: Sequence[str], column: int, newline: str) -> str:
    return newline.join(" " * column + line if line else "" for line in lines)


def _without_break(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of lines, with the line break before it where the text has none at its end."""
    if is_open(text, end) and start:
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    return start, end


def _usual_gap(text: str, node: Node, *, root: bool) -> int:
    """How many empty lines stand between the entries of a mapping or list, as a rule."""
    gaps: Counter[int] = Counter()
    for entry in node.entries[1:]:
        start = first_line(text, entry)
        gaps[count_lines(text, above_empty(text, start), start)] += 1
    return gaps.most_common(1)[0][0] if gaps else int(root)


# --- in brackets --------------------------------------------------------------------------------------------------------


def insert_in_brackets(text: str, node: Node, index: int, written: str, newline: str, *, padded: bool) -> list[Splice]:
    """Put an entry before the one at an index, or behind the last."""
    if not node.entries:
        return _only_entry(text, node, written, padded=padded)
    if index == 0:
        first = node.entries[0]
        if _has_line(text, first):  # Its comments stay with it.
            at = first_line(text, first)
            return [Splice(at, at, f"{' ' * column_of(text, first.start)}{written},{newline}")]
        return [Splice(first.start, first.start, f"{written}, ")]
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


def remove_from_brackets(text: str, node: Node, index: int) -> list[Splice]:
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


def replace_in_brackets(text: str, entry: Entry, written: str) -> list[Splice]:
    """Write another value."""
    if not entry.colon and entry.key is not None:
        return [Splice(entry.key.end, entry.key.end, f": {written}")]
    if entry.value.start == entry.value.end and entry.key is not None:
        return [Splice(text.index(":", entry.key.end) + 1, entry.value.end, f" {written}")]
    return [Splice(entry.value.start, entry.value.end, written)]


def empty_brackets(text: str, node: Node) -> list[Splice]:
    """Leave the brackets alone."""
    return [Splice(_opening(text, node) + 1, node.end - 1, "")]


def _only_entry(text: str, node: Node, written: str, *, padded: bool) -> list[Splice]:
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
