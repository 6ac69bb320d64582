"""The lines of a text around an entry: its comments, and the empty lines beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenantry.edit.tree import Entry, Node
from tenantry.messages.errors import LINE_BREAK

BREAKS = ("\n", "\r", "\x85", "\u2028", "\u2029")


class Splice(NamedTuple):
    """Replace the characters from start to end by a text."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text after all replacements, whose places are those of the text before."""
    parts, at = [], 0
    for start, end, new in sorted(splices, key=lambda each: each[:2]):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def column_of(text: str, at: int) -> int:
    """The column of a character, from 0."""
    return at - line_start(text, at)


def line_start(text: str, at: int) -> int:
    """Where the line of a character begins."""
    while at and text[at - 1] not in BREAKS:
        at -= 1
    return at


def line_end(text: str, at: int) -> int:
    """Where the line of a character ends: at its line break, or at the end of the text."""
    found = LINE_BREAK.search(text, at)
    return found.start() if found else len(text)


def next_line(text: str, at: int) -> int:
    """Where the line after that of a character begins; the end of the text after the last line."""
    found = LINE_BREAK.search(text, at)
    return found.end() if found else len(text)


def is_open(text: str, end: int) -> bool:
    """Whether the last line ends here without a line break."""
    return end == len(text) and text[end - 1 : end] not in BREAKS


def line_above(text: str, start: int) -> int:
    """Where the line above a line begins. start: where a line begins that is not the first."""
    return line_start(text, start - 2 if text[start - 2 : start] == "\r\n" else start - 1)


def is_comment(text: str, start: int) -> bool:
    """Whether the line that begins here holds nothing but a comment."""
    return text[start : line_end(text, start)].lstrip(" \t").startswith("#")


def is_empty(text: str, start: int) -> bool:
    """Whether the line that begins here is empty. The end of the text is not a line."""
    return start < len(text) and not text[start : line_end(text, start)].strip(" \t")


def indent_of(text: str, start: int) -> int:
    """By how many spaces the line that begins here is indented."""
    line = text[start : line_end(text, start)]
    return len(line) - len(line.lstrip(" "))


def is_inline(text: str, entry: Entry) -> bool:
    """Whether something stands before an entry on its line, such as the dash of a list."""
    return bool(text[line_start(text, entry.start) : entry.start].strip(" \t"))


def first_line(text: str, entry: Entry, *, header: bool = False) -> int:
    """Where the lines of an entry begin, with the comments directly above it.

    header: whether comments at the top of the file belong to the file, not to the entry.
    """
    start = line_start(text, entry.start)
    column = column_of(text, entry.start)
    above = start
    while above and is_comment(text, up := line_above(text, above)) and indent_of(text, up) == column:
        above = up
    is_header = header and (above == 0 or text[line_above(text, above) :].startswith(("---", "%")))
    return start if is_header else above


def after_lines(text: str, entry: Entry) -> int:
    """Where the lines of an entry end: behind deeper comments below it, which speak of what it holds."""
    end = next_line(text, entry.end)
    column = column_of(text, entry.start)
    below = end
    while below < len(text) and (is_empty(text, below) or is_comment(text, below)):
        if is_comment(text, below):
            if indent_of(text, below) <= column:
                break
            end = next_line(text, below)
        below = next_line(text, below)
    return end


def above_empty(text: str, start: int) -> int:
    """Where the empty lines directly above a line begin."""
    while start and is_empty(text, up := line_above(text, start)):
        start = up
    return start


def below_empty(text: str, start: int) -> int:
    """Where the empty lines that begin at a line end."""
    while is_empty(text, start):
        start = next_line(text, start)
    return start


def count_lines(text: str, start: int, end: int) -> int:
    """How many lines begin between two places."""
    count = 0
    while start < end:
        start = next_line(text, start)
        count += 1
    return count


def behind_head(text: str, entry: Entry) -> int:
    """The place behind the colon of a block mapping's entry, or behind the dash of a list's."""
    if entry.key is None:
        return entry.start + 1
    return text.index(":", entry.key.end) + 1


def is_below(text: str, entry: Entry) -> bool:
    """Whether the value of an entry is a mapping or list without brackets on the lines below its head."""
    value: Node = entry.value
    is_block = value.kind in ("mapping", "list") and not value.flow
    return is_block and line_end(text, behind_head(text, entry)) < value.start
