"""Edits of mappings and lists without brackets: whole lines come and go, with their comments and regular empty lines."""

from __future__ import annotations

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
    next_line,
)
from tenantry.edit.tree import Entry, Node


def insert(text: str, node: Node, index: int, lines: Sequence[str], newline: str, *, root: bool) -> list[Splice]:
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


def remove(text: str, node: Node, index: int, *, root: bool) -> list[Splice]:
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


def replace(text: str, entry: Entry, lines: Sequence[str], newline: str) -> list[Splice]:
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


def empty(text: str, entry: Entry, brackets: str) -> list[Splice]:
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
