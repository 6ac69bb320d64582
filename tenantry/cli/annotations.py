"""Problems in the formats that forges show beside the lines of a pull request: GitHub's commands, SARIF, GitLab's reports."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tenantry import __version__
from tenantry.cli.output import data, data_json, report_invalid, report_warnings, say
from tenantry.messages.errors import InvalidFleet, Problem, Severity
from tenantry.messages.redact import presentable
from tenantry.messages.text import format_count, format_path, format_warning_count, printable

FORMATS = ("github", "sarif", "gitlab")


def annotate_invalid(invalid: InvalidFleet, output: str) -> None:
    """Print the problems of an invalid file. The text report is on stderr, unless the format is for a log itself."""
    _annotate(invalid.diagnostics, output)
    if output == "github":
        say(format_count(invalid))
    else:
        report_invalid(invalid)


def annotate_warnings(warnings: Sequence[Problem], output: str, *, strict: bool) -> None:
    """Print the warnings of a valid file. Args: strict: they are errors."""
    _annotate(warnings, output, strict=strict)
    if output != "github":
        report_warnings(warnings)
    elif warnings:
        say(format_warning_count(warnings))


def _annotate(diagnostics: Sequence[Problem], output: str, *, strict: bool = False) -> None:
    match output:
        case "sarif":
            data_json(as_sarif(diagnostics, strict=strict))
        case "gitlab":
            data_json(as_report(diagnostics, strict=strict))
        case _:
            for diagnostic in diagnostics:
                data(command_of(diagnostic, strict=strict))


def level_of(diagnostic: Problem, *, strict: bool) -> Severity:
    """Args: strict: warnings are errors."""
    return Severity.ERROR if strict else diagnostic.severity


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


def fingerprints(diagnostics: Sequence[Problem]) -> Iterator[str]:
    """The identity of each problem, which stays the same when lines are added above it: `<hash>:<number>`.

    number: which of the problems with the same hash it is.
    """
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        # The path says where the problem is, whatever its line. A syntax error has none.
        subject = repr(diagnostic.path) if diagnostic.path else diagnostic.message
        digest = hashlib.sha256(
            "\0".join((diagnostic.code, file_of(diagnostic.location.file), subject)).encode()
        ).hexdigest()[:16]
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"


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


_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def as_report(diagnostics: Sequence[Problem], *, strict: bool) -> list[dict[str, Any]]:
    """All problems; GitLab expects the list itself, without an envelope."""
    return [
        {
            "description": text_of(each),
            "check_name": each.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[level_of(each, strict=strict)],
            "location": {"path": file_of(each.location.file), "lines": {"begin": each.location.line}},
        }
        for each, fingerprint in zip(diagnostics, fingerprints(diagnostics), strict=True)
    ]


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_FIXES = 5
"""How many of the fixes of one rule its help lists."""


def as_sarif(diagnostics: Sequence[Problem], *, strict: bool) -> dict[str, Any]:
    """One run with a rule for each code and a result for each problem."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    found = zip(diagnostics, fingerprints(diagnostics), strict=True)
    run = {
        "tool": {
            "driver": {
                "name": "tenantry",
                "semanticVersion": __version__,
                "rules": [_rule(code, [each for each in diagnostics if each.code == code]) for code in codes],
            }
        },
        # Columns are those of Python's strings.
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes.index(each.code), fingerprint, strict=strict) for each, fingerprint in found],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, found: Sequence[Problem]) -> dict[str, Any]:
    title = code.replace("-", " ").capitalize()
    return {
        "id": code,
        "shortDescription": {"text": title},
        "help": {"text": "\n".join(_help(title, found))},
        "defaultConfiguration": {"level": found[0].severity.value},
    }


def _help(title: str, found: Sequence[Problem]) -> Iterator[str]:
    fixes = list(dict.fromkeys(printable(each.fix) for each in found if each.fix))
    yield f"{title}: `tenantry validate` shows each place with a fix."
    yield from (f"Fix: {fix}" for fix in fixes[:_MOST_FIXES])


def _result(diagnostic: Problem, rule: int, fingerprint: str, *, strict: bool) -> dict[str, Any]:
    # Few runs write SARIF.
    from tenantry.cli.excerpt import marked_length

    place = diagnostic.location
    region = {"startLine": place.line, "startColumn": place.column}
    if length := marked_length(diagnostic):
        region["endColumn"] = place.column + length
    where = {"artifactLocation": {"uri": quote(file_of(place.file))}, "region": region}
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": level_of(diagnostic, strict=strict).value,
        "message": {"text": text_of(diagnostic)},
        "locations": [{"physicalLocation": where}],
        # The only fingerprint that GitHub compares.
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
