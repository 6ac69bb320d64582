"""Problems as the commands of GitHub's workflows, which shows them beside the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tenantry.cli.output import data, say
from tenantry.messages.errors import InvalidFleet, Problem, Severity
from tenantry.messages.text import format_count, format_path, format_warning_count, printable


def annotate_invalid(invalid: InvalidFleet) -> None:
    """Print the problems of an invalid file."""
    _annotate(invalid.diagnostics)
    say(format_count(invalid))


def annotate_warnings(warnings: Sequence[Problem], *, strict: bool) -> None:
    """Print the warnings of a valid file. Args: strict: they are errors."""
    _annotate(warnings, strict=strict)
    if warnings:
        say(format_warning_count(warnings))


def _annotate(diagnostics: Sequence[Problem], *, strict: bool = False) -> None:
    for diagnostic in diagnostics:
        data(command_of(diagnostic, strict=strict))


def text_of(diagnostic: Problem) -> str:
    """The message, the path in the data, the facts and the fix, each on a line."""
    path = (f"at {format_path(diagnostic.path)}",) if diagnostic.path else ()
    fix = (f"fix: {diagnostic.fix}",) if diagnostic.fix else ()
    return "\n".join(map(printable, (diagnostic.message, *path, *diagnostic.notes, *fix)))


def file_of(file: str) -> str:
    """The file's path from the root of its Git repository, otherwise from the current directory.

    A file elsewhere keeps its name. Runs no git, because a repository's own configuration can make git run programs.
    """
    path = Path(os.path.normpath(Path.cwd() / file))
    top = next((parent for parent in path.parents if (parent / ".git").exists()), Path.cwd())
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else file


_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def command_of(diagnostic: Problem, *, strict: bool = False) -> str:
    """The command for a problem at a place."""
    place = diagnostic.location
    properties = {
        "file": file_of(place.file),
        "line": str(place.line),
        "col": str(place.column),
        "title": diagnostic.code,
    }
    return _command((Severity.ERROR if strict else diagnostic.severity).value, properties, text_of(diagnostic))


def notice(file: str, text: str) -> str:
    """The command for a fact about a file."""
    return _command("notice", {"file": file_of(file)}, text)


def _command(name: str, properties: dict[str, str], text: str) -> str:
    told = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties.items())
    return f"::{name} {told}::{_escaped(text, _DATA)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)
