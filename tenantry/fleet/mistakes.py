"""One mistake is one finding: joins the findings that a single mistake leads to, and explains characters that look like others.

Called by: `load`, only for a file with problems.
Never: drops a finding without telling its mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tenantry.fleet.hints import quoted
from tenantry.fleet.model_paths import annotation_at
from tenantry.flux.schemas import schema_of
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.text import grouped
from tenantry.model import Document

_QUOTES = dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2018\u2019\u201a", "")
_LOOKALIKES = {
    **_QUOTES,
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u00a0\u2007\u202f", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
    "\u2026": "...",
}
"""Characters that word processors, chats and pages put in place of plain ones, and what was typed."""
_PLAIN = str.maketrans(_LOOKALIKES)


def explained(findings: Iterable[Problem], data: Mapping[str, Any]) -> Iterator[Problem]:
    """Findings about a file's data, each mistake once. Args: data: the whole file."""
    found = tuple(findings)
    if other := _of_another_format(data):
        yield other
        return
    for same in grouped(found, key=_mistake).values():
        first = same[0]
        if len(same) > 1 and first.code == "unknown-key":
            names = [f"'{each.path[-1]}'" for each in same]
            message = f"keys {', '.join(names[:-1])} and {names[-1]} are not known here"
            first = replace(first, message=message)
        yield _typed_plainly(of_its_type(first), data)


def _mistake(finding: Problem) -> object:
    """What is equal for findings of one mistake: several keys that belong together somewhere else."""
    belongs = finding.code == "unknown-key" and finding.fix.startswith(("write '", "store ", "move ", "values never"))
    return (finding.path[:-1], finding.fix) if belongs else finding


def _of_another_format(data: Mapping[str, Any]) -> Problem | None:
    """A file of another program, or ours in the form of a Kubernetes object."""
    if not ("kind" in data and data.keys() & {"metadata", "spec"}):
        return None
    if str(data.get("apiVersion")).startswith("tenantry/"):
        message, fix = "tenants.yaml is no Kubernetes object", "move all that 'spec:' holds to the top level"
        fix += ", and remove 'kind:', 'metadata:' and 'spec:'"
    else:
        kind = quoted(data["kind"], ())
        message = f"this is {'another object' if kind == '...' else f'an object of kind {kind}'}, not a tenants.yaml"
        fix = "run `tenantry init` for a new fleet, or `tenantry import` for one that Flux runs"
    return Problem(("kind",), "other-format", message, fix=fix, at_key=True)


def of_its_type(finding: Problem) -> Problem:
    """A word such as `yes`: a switch takes true or false, anything else takes it in quotes."""
    if finding.code != "ambiguous":
        return finding
    annotation = annotation_at(Document, finding.path) or _flux_type(finding.path)
    word = finding.message.split("'")[1]
    if bool in annotation:
        return replace(finding, fix=f"write {'true' if word.lower() in ('yes', 'on') else 'false'}")
    return replace(finding, fix=f'write "{word}", in quotes') if str in annotation else finding


def _flux_type(path: Path) -> tuple[Any, ...]:
    """The type of a key of Flux's own at the top of a block."""
    kind = {"kustomize": "Kustomization", "helm": "HelmRelease"}.get(str(path[-2])) if len(path) > 1 else None
    part = schema_of(kind).spec["properties"].get(str(path[-1]), {}) if kind else {}
    return {"boolean": (bool,), "string": (str,)}.get(part.get("type", ""), ())


_LOOKED_AT = 500
"""Characters of a text. A text can have millions, and as many problems."""


def _typed_plainly(finding: Problem, data: Mapping[str, Any]) -> Problem:
    """What to write for a key or a value with characters that look like plain ones."""
    value = value_at(data, finding.path)
    texts = [str(finding.path[-1])] if finding.at_key and finding.path else []
    texts += [value] if isinstance(value, str) and not finding.at_key else []
    for text in texts:
        if odd := next((char for char in text[:_LOOKED_AT] if char in _LOOKALIKES), ""):
            name = "a typographic quote" if odd in _QUOTES else "not a plain character"
            shown = f"'{odd}'" if odd.isprintable() and not odd.isspace() else f"U+{ord(odd):04X}"
            meant = quoted(text.translate(_PLAIN).strip(), finding.path)
            fix = f"write {meant}, with plain characters"
            if meant == "...":
                fix = finding.fix if finding.fix.startswith("write '") else "type it again, with plain characters"
            return replace(finding, notes=(f"{shown} is {name}; YAML takes it as a part of the text",), fix=fix)
    return finding
