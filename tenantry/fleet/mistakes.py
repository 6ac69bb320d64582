"""One mistake is one finding: joins the findings that a single mistake leads to.

Called by: `shape`, and `load` for the findings of a whole file, only for a file with problems.
Never: drops a finding without telling its mistake.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tenantry.fleet.value_hints import quoted
from tenantry.messages.data import value_at
from tenantry.messages.errors import Problem
from tenantry.messages.text import grouped

_MISSING_KEY = re.compile(r"key '([A-Za-z]+)' is missing")
_MEANT_KEY = re.compile(r"write '([A-Za-z]+)(?=[:'])")


def without_repeats(found: tuple[Problem, ...], known: tuple[Problem, ...]) -> Iterator[Problem]:
    """Findings that do not repeat others: a `branch:` beside `url:` is also a missing `ref:`, a typo the missing key itself.

    Args: known: further findings, which are told.
    """
    meant = {
        (*problem.path[:-1], key[1])
        for problem in (*known, *found)
        if problem.code == "unknown-key" and (key := _MEANT_KEY.match(problem.fix))
    }
    wrong_keys = {problem.path for problem in found if problem.at_key}
    # What follows such a key belongs under it.
    displaced = {problem.path for problem in found if problem.fix.startswith("indent '")}
    in_whole = {problem.path for problem in known if problem.code == "wrong-reference"}
    for problem in found:
        if any(problem.path[: len(path)] == path for path in in_whole):
            continue
        if any(problem.path[: len(path) - 1] == path[:-1] for path in displaced) and problem.path not in displaced:
            continue
        missing = _MISSING_KEY.match(problem.message) if problem.code == "missing-key" else None
        if missing and (*problem.path, missing[1]) in meant:
            continue
        if problem.at_key or not any(problem.path[:depth] in wrong_keys for depth in range(1, len(problem.path) + 1)):
            yield problem


def explained(findings: Iterable[Problem], data: Mapping[str, Any]) -> Iterator[Problem]:
    """Findings about a file's data, each mistake once. Args: data: the whole file."""
    found = tuple(findings)
    if other := _of_another_format(data):
        yield other
        return
    for same in grouped(found, key=_mistake).values():
        first = same[0]
        if len(same) > 1 and first.code == "unknown-key":
            names = [f"'{problem.path[-1]}'" for problem in same]
            message = f"keys {', '.join(names[:-1])} and {names[-1]} are not known here"
            first = replace(first, message=message)
        yield _typed_plainly(first, data)


def _mistake(finding: Problem) -> object:
    """What is equal for findings of one mistake: several keys that belong together somewhere else."""
    belongs = finding.code == "unknown-key" and finding.fix.startswith(("write '", "store ", "move ", "values never"))
    return (finding.path[:-1], finding.fix) if belongs else finding


def _of_another_format(data: Mapping[str, Any]) -> Problem | None:
    """A file of another program, or ours in the form of a Kubernetes object."""
    if not ("kind" in data and data.keys() & {"metadata", "spec"}):
        return None
    if str(data.get("apiVersion")).startswith("tenantry/"):
        message = "tenants.yaml is no Kubernetes object"
        fix = "move all that 'spec:' holds to the top level, and remove 'kind:', 'metadata:' and 'spec:'"
    else:
        kind = quoted(data["kind"], ())
        message = f"this is {'another object' if kind == '...' else f'an object of kind {kind}'}, not a tenants.yaml"
        fix = "run `tenantry init` for a new fleet, or `tenantry import` for one that Flux runs"
    return Problem(("kind",), "other-format", message, fix=fix, at_key=True)


_LOOKED_AT = 500
"""Characters of a text. A text can have millions, and as many problems."""
_ODD = frozenset({"Pi", "Pf", "Ps", "Pd", "Cf", "Zs"})
"""The categories of quotes, dashes and spaces, which word processors, chats and pages put in place of plain ones."""


def _typed_plainly(finding: Problem, data: Mapping[str, Any]) -> Problem:
    """Says so where a key or a value has a character that looks like a plain one."""
    text = finding.path[-1] if finding.at_key and finding.path else value_at(data, finding.path)
    for char in text[:_LOOKED_AT] if isinstance(text, str) else "":
        if not char.isascii() and unicodedata.category(char) in _ODD:
            shown = f"'{char}'" if char.isprintable() and not char.isspace() else f"U+{ord(char):04X}"
            fix = finding.fix if finding.fix.startswith("write '") else "type it again, with plain characters"
            note = f"{shown} is not a plain character; YAML takes it as a part of the text"
            return replace(finding, notes=(note,), fix=fix)
    return finding
