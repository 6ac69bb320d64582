"""What JSON Schema cannot say: the CEL rules of the definitions, and keys that make the entries of a list unique.

Rules are evaluated by the engine of CEL's own authors, not by a translation of ours, so a rule that a new version of Flux
brings is checked as soon as it is explained. All that there are hold for a single state of an object; a rule about a change
(`oldSelf`) does not compile here, which a test would notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from tenantry.flux.conformance.explanations import EXPLANATIONS, Explanation
from tenantry.flux.conformance.walk import parts
from tenantry.messages.errors import Finding, Path


def broken_rules(schema: dict[str, Any], value: Any, at: Path) -> Iterator[Finding]:
    """The rules that a value of the right structure, defaults included, breaks; and so on for its parts."""
    for rule in schema.get("x-kubernetes-validations", ()):
        if not holds(rule, value):
            yield _finding(EXPLANATIONS[rule], value, at)
    if keys := schema.get("x-kubernetes-list-map-keys"):
        yield from _duplicates(keys, value, at)
    for key, part, inner in parts(schema, value):
        yield from broken_rules(part, inner, (*at, key))


def holds(rule: str, value: Any) -> bool:
    """Whether the rule is true of the value; one that cannot be evaluated is not, to an API server neither."""
    return _compiled(rule).eval(data={"self": value}).value() is True


@cache
def _compiled(rule: str) -> Any:
    return _environment().compile(rule)


@cache
def _environment() -> Any:
    # Not needed by a fleet without rules to check, and not by most commands.
    from cel_expr_python import cel  # type: ignore[import-untyped]

    return cel.NewEnv(variables={"self": cel.Type.DYN})


def _finding(explanation: Explanation, value: Any, at: Path) -> Finding:
    """At the key that is to change, where the author wrote it; else at the block that lacks it."""
    at_key = explanation.key in value
    return Finding(
        (*at, explanation.key) if at_key else at,
        explanation.code,
        explanation.message,
        explanation.notes,
        explanation.fix,
        at_key=at_key,
    )


def _duplicates(keys: list[str], entries: list[dict[str, Any]], at: Path) -> Iterator[Finding]:
    seen: dict[tuple[Any, ...], int] = {}
    for index, entry in enumerate(entries):
        first = seen.setdefault(tuple(entry.get(key) for key in keys), index)
        if first != index:
            message = f"{' and '.join(keys)} must differ between entries, entry {first} has the same"
            yield Finding((*at, index), "duplicate", message, fix="remove one of them")
