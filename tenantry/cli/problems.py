"""Problems of the file for a terminal, with their lines, and for GitHub, which shows them beside the lines of a pull request."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import NamedTuple

import click

from tenantry.cli.output import data, say
from tenantry.messages.errors import InvalidFleet, Location, Problem, Severity, split
from tenantry.messages.redact import is_sensitive, presentable, redacted
from tenantry.messages.text import (
    counted,
    format_count,
    format_diagnostic,
    format_path,
    format_warning_count,
    printable,
)


def report_invalid(invalid: InvalidFleet) -> None:
    """Print all problems of a file to stderr."""
    _report(invalid.diagnostics, format_count(invalid))


def report_warnings(warnings: Sequence[Problem]) -> None:
    """Print the warnings of a file to stderr, if there are any."""
    if warnings:
        _report(warnings, format_warning_count(warnings))


def _report(diagnostics: Sequence[Problem], closing: str) -> None:
    """Print each problem with its line of the file: places in bold, codes and carets in the colour of the severity."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    width = get_terminal_size().columns if is_terminal else _PIPE_WIDTH
    for diagnostic, excerpt in zip(diagnostics, excerpts(diagnostics, width - _GUTTER), strict=True):
        rest = format_diagnostic(diagnostic).splitlines()[1:]
        place = click.style(printable(str(diagnostic.location)), bold=True)
        say(f"{place}: {_mark(diagnostic)}: {printable(diagnostic.message)}")
        if excerpt:
            carets = click.style("^" * excerpt.length, fg=_COLOURS[diagnostic.severity], bold=True)
            say(f"{excerpt.number:>6} | {excerpt.line}")
            say(f"{'':>6} | {' ' * excerpt.before}{carets}")
        for line in rest:
            say(line)
    say(closing)


_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def _mark(problem: Problem) -> str:
    return click.style(f"{problem.severity}[{problem.code}]", fg=_COLOURS[problem.severity], bold=True)


def as_text(problem: Problem) -> str:
    """`error[code]: message`, and the fix below it."""
    return f"{_mark(problem)}: {presentable(problem.message)}\n  fix: {presentable(problem.fix)}"


def counts(problems: Sequence[Problem]) -> str:
    """2 errors, 1 warning; "" if there are none."""
    numbers = {severity: sum(problem.severity is severity for problem in problems) for severity in Severity}
    return ", ".join(counted(number, each) for each, number in numbers.items() if number)


_PIPE_WIDTH = 120
"""Columns for lines of the file if stderr is not a terminal."""
_GUTTER = 9
"""Columns before a line of the file, for its number and a bar."""


# --- lines of the file -------------------------------------------------------------------------------------------------
#
# A line that may contain a secret is hidden completely. If only the secret were cut out, the rest would reveal its position, and a
# pattern that misses one character would reveal the remainder.

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
    hidden = {
        (problem.location.file, problem.location.line + offset)
        for problem in diagnostics
        if problem.code in _SECRET
        for offset in (-1, 0, 1)
    }
    # Nothing behind the first wrong key of a line is shown.
    keys: dict[tuple[str, int], int] = {}
    for place in (problem.location for problem in diagnostics if problem.code in _AT_KEY):
        keys[place.file, place.line] = min(place.column, keys.get((place.file, place.line), place.column))
    for index, problem in enumerate(diagnostics):
        place = problem.location
        at = (place.file, place.line)
        is_open = index < MOST and at not in hidden and keys.get(at, place.column) >= place.column
        if is_open and place.text and _is_harmless(problem, lines := split(place.text)):
            yield _excerpt(place, lines[place.line - 1], width, keys.get(at))
        else:
            yield None


def _is_harmless(diagnostic: Problem, lines: Sequence[str]) -> bool:
    """Whether the line of a diagnostic is there and holds nothing that may be a secret."""
    place = diagnostic.location
    if not "".join(lines[place.line - 1 : place.line]).strip():
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


def _keys_above(lines: Sequence[str], number: int) -> Iterator[str]:
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
    """A line, cut around a place. Args: width: in columns; until: of the first wrong key, behind which nothing is shown."""
    from rich.cells import cell_len, set_cell_size  # nobody needs them for a valid file

    start = min(place.column - 1, len(line))
    token = _TOKEN.match(line, start)
    end = token.end() if token else start + 1
    before = _shown(line[max(0, start - _AROUND) : start])
    marked = _shown(line[start : min(end, start + _AROUND)])
    shown_to = end + _AROUND if until is None else end + 1 if until == place.column else until - 1
    rest = _COMMENT.split(line[end : min(shown_to, end + _AROUND)])[0].rstrip()
    more, kept = bool(line[end + len(rest) :].strip()), marked + _shown(rest)
    room = max(width // 2, width - cell_len(kept)) if start else 0
    if cell_len(before) > room:
        before = f"...{set_cell_size(before[::-1], max(room - 3, 0))[::-1]}" if start else ""
    room = width - cell_len(before)
    if cell_len(kept) > room - 4 * more:
        kept = f"{set_cell_size(kept, max(room - 3, 0))}..."
    elif more:
        kept += " ..."
    return Excerpt(place.line, before + kept, cell_len(before), min(cell_len(marked), cell_len(kept)) or 1)


def _shown(text: str) -> str:
    """The text with tabs and unprintable characters replaced, so that its width is known."""
    return printable(text.replace("\t", "    "))


# --- GitHub -------------------------------------------------------------------------------------------------------------

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def annotate(problems: Sequence[Problem], closing: str, *, strict: bool = False) -> None:
    """Print problems, and their number to stderr if there are any. Args: strict: warnings are errors."""
    for problem in problems:
        place = problem.location
        properties = {
            "file": _from_root(place.file),
            "line": str(place.line),
            "col": str(place.column),
            "title": problem.code,
        }
        path = (f"at {format_path(problem.path)}",) if problem.path else ()
        fix = (f"fix: {problem.fix}",) if problem.fix else ()
        text = "\n".join(map(printable, (problem.message, *path, *problem.notes, *fix)))
        data(_command((Severity.ERROR if strict else problem.severity).value, properties, text))
    if problems:
        say(closing)


def _from_root(file: str) -> str:
    """The file's path from the root of its Git repository, otherwise from the current directory.

    A file elsewhere keeps its name. Runs no git, because a repository's own configuration can make git run programs.
    """
    path = Path(os.path.normpath(Path.cwd() / file))
    top = next((parent for parent in path.parents if (parent / ".git").exists()), Path.cwd())
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else file


def _command(name: str, properties: Mapping[str, str], text: str) -> str:
    pairs = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties.items())
    return f"::{name} {pairs}::{_escaped(text, _DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)
