"""Checks what JSON Schema cannot express: the CEL rules of the CRDs, and list entries with equal keys.

The CEL engine evaluates the rules themselves, so a new rule of Flux works here as soon as `explanations` has a text for it.
Transition rules (`oldSelf`) do not compile here. Flux has none so far, and a test would notice one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from tenantry.flux.conformance.evident import is_evident
from tenantry.flux.conformance.explanations import EXPLANATIONS, Explanation
from tenantry.flux.conformance.walk import once, parts
from tenantry.messages.errors import Finding, Path


def broken_rules(schema: dict[str, Any], value: Any, at: Path) -> Iterator[Finding]:
    """The rules that a value and its parts break. The value has the right structure and includes defaults."""
    for rule in schema.get("x-kubernetes-validations", ()):
        if not holds(rule, value):
            yield _finding(EXPLANATIONS[rule], value, at)
    if keys := schema.get("x-kubernetes-list-map-keys"):
        yield from _duplicates(keys, value, at)
    for key, part, inner in parts(schema, value):
        if _has_rules(part):
            yield from broken_rules(part, inner, (*at, key))


@once
def _has_rules(schema: dict[str, Any]) -> bool:
    """Whether a schema or a part of it has rules."""
    below = [*schema.get("properties", {}).values(), *([schema["items"]] if schema.get("items") else [])]
    return bool(_RULES & schema.keys()) or any(map(_has_rules, below))


_RULES = {"x-kubernetes-validations", "x-kubernetes-list-map-keys"}


def holds(rule: str, value: Any) -> bool:
    """Whether the value satisfies the rule. As on an API server, a rule that cannot be evaluated is not satisfied."""
    return is_evident(rule, value) or _compiled(rule).eval(data={"self": value}).value() is True


@cache
def _compiled(rule: str) -> Any:
    return _environment().compile(rule)


@cache
def _environment() -> Any:
    # Most commands, and fleets without rules to check, do not need it.
    from cel_expr_python import cel  # type: ignore[import-untyped]

    return cel.NewEnv(variables={"self": cel.Type.DYN})


def _finding(explanation: Explanation, value: Any, at: Path) -> Finding:
    """The finding for a broken rule: at the key to change if the author wrote it, otherwise at the block."""
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
