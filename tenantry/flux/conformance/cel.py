"""Checks what JSON Schema cannot express: the CEL rules of the CRDs, and list entries with equal keys.

The CEL engine evaluates the rules themselves, so a new rule of Flux works here as soon as `explanations` has a text for it.
Transition rules (`oldSelf`) do not compile here. Flux has none so far, and a test would notice one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tenantry.flux.conformance.explanations import EXPLANATIONS, Explanation
from tenantry.flux.conformance.walk import described, once
from tenantry.messages.errors import Finding, Path


def broken_rules(schema: dict[str, Any], value: Any, at: Path) -> Iterator[Finding]:
    """The rules that a value and its parts break. The value has the right structure and includes defaults."""
    if ruled := _ruled(schema):
        yield from ruled.broken(value, at)


@dataclass(frozen=True, slots=True)
class _Ruled:
    """What a schema says beyond its structure, with the properties and the items that say something themselves.

    keys: no two entries of the list may be equal in all of them.
    """

    schema: dict[str, Any]
    rules: tuple[str, ...]
    keys: list[str]
    properties: tuple[tuple[str, _Ruled], ...]
    items: _Ruled | None

    def broken(self, value: Any, at: Path) -> Iterator[Finding]:
        for rule in self.rules:
            if not holds(rule, value, self.schema):
                yield _finding(EXPLANATIONS[rule], value, at)
        if self.keys:
            yield from _duplicates(self.keys, value, at)
        if isinstance(value, dict):
            for key, part in self.properties:
                if key in value:
                    yield from part.broken(value[key], (*at, key))
        elif self.items and isinstance(value, list):
            for index, entry in enumerate(value):
                yield from self.items.broken(entry, (*at, index))


@once
def _ruled(schema: dict[str, Any]) -> _Ruled | None:
    """What a schema or a part of it says beyond its structure; None: nothing."""
    rules = tuple(schema.get("x-kubernetes-validations", ()))
    keys = schema.get("x-kubernetes-list-map-keys") or []
    parts = tuple((key, found) for key, part in schema.get("properties", {}).items() if (found := _ruled(part)))
    items = _ruled(schema["items"]) if schema.get("items") else None
    return _Ruled(schema, rules, keys, parts, items) if rules or keys or parts or items else None


def holds(rule: str, value: Any, schema: dict[str, Any]) -> bool:
    """Whether the value satisfies the rule. As on an API server, a rule that cannot be evaluated is not satisfied."""
    return _compiled(rule).eval(data={"self": described(schema, value)}).value() is True


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
