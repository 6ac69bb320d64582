"""Problems as SARIF 2.1.0, which GitHub's code scanning and many editors read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from tenantry import __version__
from tenantry.cli.annotations.annotation import file_of, fingerprints, level_of, text_of
from tenantry.cli.excerpt import marked_length
from tenantry.messages.errors import Diagnostic
from tenantry.messages.text import printable

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_FIXES = 5
"""How many of the fixes of one rule its help lists."""


def as_sarif(diagnostics: Sequence[Diagnostic], *, strict: bool) -> dict[str, Any]:
    """One run with a rule for each code and a result for each problem."""
    codes = sorted({each.code for each in diagnostics})
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


def _rule(code: str, found: Sequence[Diagnostic]) -> dict[str, Any]:
    title = code.replace("-", " ").capitalize()
    return {
        "id": code,
        "shortDescription": {"text": title},
        "help": {"text": "\n".join(_help(title, found))},
        "defaultConfiguration": {"level": found[0].severity.value},
    }


def _help(title: str, found: Sequence[Diagnostic]) -> Iterator[str]:
    fixes = list(dict.fromkeys(printable(each.fix) for each in found if each.fix))
    yield f"{title}: `tenantry validate` shows each place with a fix."
    yield from (f"Fix: {fix}" for fix in fixes[:_MOST_FIXES])


def _result(diagnostic: Diagnostic, rule: int, fingerprint: str, *, strict: bool) -> dict[str, Any]:
    place = diagnostic.location
    region = {"startLine": place.line, "startColumn": place.column}
    if length := marked_length(diagnostic):
        region["endColumn"] = place.column + length
    where = {"artifactLocation": {"uri": _uri(file_of(place.file))}, "region": region}
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": level_of(diagnostic, strict=strict).value,
        "message": {"text": text_of(diagnostic)},
        "locations": [{"physicalLocation": where}],
        # The only fingerprint that GitHub compares.
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }


def _uri(file: str) -> str:
    """A path as a relative URI. Imported here, because few runs need it."""
    return quote(file)
