"""Shows the line of the file below a diagnostic, with a caret. Only for stderr, never for JSON or Pulumi's logs.

A line that may contain a secret is hidden completely. If only the secret were cut out, the rest would reveal its position, and a
pattern that misses one character would reveal the remainder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from tenantry.messages.errors import Lines, Location, Problem
from tenantry.messages.redact import is_sensitive, redacted
from tenantry.messages.text import printable

MOST = 100
"""How many diagnostics of a run show their line. Nobody reads more, and the search for secrets takes time."""

_SECRET = frozenset({"secret-in-file", "secret-in-url"})
_AT_KEY = frozenset({"unknown-key", "owned-key", "duplicate-key", "not-for-included", "bad-key", "merge-key"})
"""Codes of diagnostics about a key. The value of an unknown key may be a secret."""
_SUSPECT = re.compile(
    r"(?i)secret|pwd|auth|bearer|login|private|hook|address|proxy|bot\b|data:|-----|@|[0-9]{7}|://\S*[?#=]"
)
"""Keys below which people paste secrets, parts of URLs that can be secrets, and PINs. Messages omit them too."""
_KEY_BEGINS = "-----BEGIN"
_KEY_LINES = 200
_AROUND = 500
"""How many characters on each side of the caret are searched for secrets, and at most shown."""
_COMMENT = re.compile(r"(?:^|\s)#")
"""Comments are never shown, because they can contain anything."""
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s,\[\]{}]+?(?=:?(?:[\s,\[\]{}]|$))")


class Excerpt(NamedTuple):
    """A line to show; before: the columns before the carets; length: the number of carets."""

    number: int
    line: str
    before: int
    length: int


def excerpts(diagnostics: Sequence[Problem], width: int) -> Iterator[Excerpt | None]:
    """The line of each diagnostic, cut to a number of columns; None if it is not shown."""
    safe = _Safe(diagnostics)
    for index, problem in enumerate(diagnostics):
        place, lines = problem.location, problem.location.lines
        written = "".join(lines[place.line - 1 : place.line]).strip() if lines else ""
        if index < MOST and lines and written and safe.shows(problem, lines):
            yield _excerpt(place, lines[place.line - 1], width, safe.until(place))
        else:
            yield None


class _Safe:
    """Decides which lines can be shown, given all diagnostics of the file."""

    def __init__(self, diagnostics: Sequence[Problem]) -> None:
        self._hidden = {
            (diagnostic.location.file, diagnostic.location.line + offset)
            for diagnostic in diagnostics
            if diagnostic.code in _SECRET
            for offset in (-1, 0, 1)
        }
        self._keys: dict[tuple[str, int], int] = {}
        for place in (problem.location for problem in diagnostics if problem.code in _AT_KEY):
            at = (place.file, place.line)
            self._keys[at] = min(place.column, self._keys.get(at, place.column))

    def until(self, place: Location) -> int | None:
        """The column of the first wrong key on the line. Nothing after this key is shown."""
        return self._keys.get((place.file, place.line))

    def shows(self, diagnostic: Problem, lines: Lines) -> bool:
        """Whether the line of a diagnostic can be shown."""
        place = diagnostic.location
        at = (place.file, place.line)
        if at in self._hidden or self._keys.get(at, place.column) < place.column:
            return False
        if any(isinstance(part, str) and is_sensitive(part) for part in diagnostic.path):
            return False
        line, above = lines[place.line - 1], lines[place.line - 2] if place.line > 1 else ""
        around = line[max(0, place.column - _AROUND) : place.column + _AROUND]
        if any(map(_suspect, (around, above[:_AROUND], above[-_AROUND:]))):
            return False
        if any(_KEY_BEGINS in text for text in lines[max(0, place.line - _KEY_LINES) : place.line]):
            return False
        # Syntax errors have no path. There, indentation shows which keys the line belongs to.
        return bool(diagnostic.path) or not any(map(_suspect, _keys_above(lines, place.line)))


def _suspect(line: str) -> bool:
    return is_sensitive(line) or _SUSPECT.search(line) is not None or redacted(line) != line


def _keys_above(lines: Lines, number: int) -> Iterator[str]:
    """The parents of a line, by indentation: each line above that is indented less."""
    indent = _indent(lines[number - 1])
    for line in reversed(lines[: number - 1]):
        if indent == 0:
            return
        if line.strip() and _indent(line) < indent:
            indent = _indent(line)
            yield line[:_AROUND]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _excerpt(place: Location, line: str, width: int, until: int | None) -> Excerpt:
    start = min(place.column - 1, len(line))
    token = _TOKEN.match(line, start)
    end = token.end() if token else start + 1
    before = _shown(line[max(0, start - _AROUND) : start])
    marked = _shown(line[start : min(end, start + _AROUND)])
    shown_to = end + _AROUND if until is None else end + 1 if until == place.column else until - 1
    rest = _COMMENT.split(line[end : min(shown_to, end + _AROUND)])[0].rstrip()
    more, after = bool(line[end + len(rest) :].strip()), _shown(rest)
    before = _last(before, max(width // 2, width - cell_len(marked + after))) if start else ""
    kept = _first(marked + after, width - cell_len(before), more=more)
    length = min(cell_len(marked), cell_len(kept)) or 1
    return Excerpt(place.line, before + kept, cell_len(before), length)


def _shown(text: str) -> str:
    """The text with tabs and unprintable characters replaced, so that its width is known."""
    return printable(text.replace("\t", "    "))


def _last(text: str, columns: int) -> str:
    """The end of a text that fits a number of columns."""
    if cell_len(text) <= columns:
        return text
    return f"...{_prefix(text[::-1], columns - 3)[::-1]}"


def _first(text: str, columns: int, *, more: bool) -> str:
    """The beginning of a text that fits a number of columns, with dots if something is cut off."""
    if cell_len(text) <= columns - 4 * more:
        return f"{text} ..." if more else text
    return f"{_prefix(text, columns - 3)}..."


def _prefix(text: str, columns: int) -> str:
    """As much of a text as fits a number of columns."""
    return next(iter(chop_cells(text, columns)), "") if columns > 0 else ""
