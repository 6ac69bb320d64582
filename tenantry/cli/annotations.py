"""Problems as the commands of GitHub's workflows, which shows them beside the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tenantry.cli.output import data, say
from tenantry.messages.errors import InvalidFleet, Problem, Severity
from tenantry.messages.text import format_count, format_path, format_warning_count, printable

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def annotate_invalid(invalid: InvalidFleet) -> None:
    """Print the problems of an invalid file."""
    _annotate(invalid.diagnostics)
    say(format_count(invalid))


def annotate_warnings(warnings: Sequence[Problem], *, strict: bool) -> None:
    """Print the warnings of a valid file. Args: strict: they are errors."""
    _annotate(warnings, strict=strict)
    if warnings:
        say(format_warning_count(warnings))


def notice(file: str, text: str) -> str:
    """The command for a fact about a file."""
    return _command("notice", {"file": _from_root(file)}, text)


def _annotate(problems: Iterable[Problem], *, strict: bool = False) -> None:
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
