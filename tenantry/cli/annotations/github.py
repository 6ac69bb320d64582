"""Workflow commands of GitHub Actions: `::error file=tenants.yaml,line=3,col=5,title=unknown-key::message`."""

from __future__ import annotations

from tenantry.cli.annotations.annotation import file_of, level_of, text_of
from tenantry.messages.errors import Diagnostic, Problem
from tenantry.messages.redact import presentable
from tenantry.messages.text import printable

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def command_of(diagnostic: Diagnostic, *, strict: bool = False) -> str:
    """The command for a problem at a place."""
    place = diagnostic.location
    properties = {
        "file": file_of(place.file),
        "line": str(place.line),
        "col": str(place.column),
        "title": diagnostic.code,
    }
    return _command(level_of(diagnostic, strict=strict).value, properties, text_of(diagnostic))


def command_of_problem(problem: Problem, environment: str) -> str:
    """The command for a problem of a live cluster, which has no place in a file."""
    lines = (problem.message, f"fix: {problem.fix}") if problem.fix else (problem.message,)
    text = "\n".join(printable(presentable(line)) for line in lines)
    return _command(problem.severity.value, {"title": f"{environment}: {problem.code}"}, text)


def notice(file: str, text: str) -> str:
    """The command for a fact about a file."""
    return _command("notice", {"file": file_of(file)}, text)


def _command(name: str, properties: dict[str, str], text: str) -> str:
    told = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties.items())
    return f"::{name} {told}::{_escaped(text, _DATA)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)
