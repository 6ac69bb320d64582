"""Checks the spec of one object in the same order as an API server: structure, then CEL rules, then lists with equal keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File
from typing import Any

import yaml

from tenantry.flux.conformance.structure import misfits, misfits_of_part
from tenantry.flux.schemas import schema_of
from tenantry.flux.texts import text_problems
from tenantry.messages.errors import Path, Problem


def completed(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with the schema's defaults, as an API server adds them."""
    if isinstance(value, dict) and (properties := schema.get("properties")):
        own = {key: part["default"] for key, part in properties.items() if "default" in part}
        return own | {key: completed(properties.get(key, {}), part) for key, part in value.items()}
    if isinstance(value, list) and (items := schema.get("items")):
        return [completed(items, entry) for entry in value]
    return value


def described(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with None in place of parts of any type, such as the values of a chart.

    No rule reads these parts, but they can contain numbers beyond 64 bits, which CEL does not accept.
    """
    if isinstance(value, dict) and (properties := schema.get("properties")):
        return {key: described(properties[key], part) if key in properties else None for key, part in value.items()}
    if isinstance(value, list) and (items := schema.get("items")):
        return [described(items, entry) for entry in value]
    return value if "type" in schema else None


def broken_rules(schema: dict[str, Any], value: Any, at: Path) -> Iterator[Problem]:
    """The rules that a value and its parts break. The value has the right structure and includes defaults."""
    for rule in schema.get("x-kubernetes-validations", ()):
        if not holds(rule, value, schema):
            yield _finding(explanations()[rule], value, at)
    if keys := schema.get("x-kubernetes-list-map-keys"):
        yield from _duplicates(keys, value, at)
    if isinstance(value, dict):
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield from broken_rules(part, value[key], (*at, key))
    elif isinstance(value, list) and (items := schema.get("items")):
        for index, entry in enumerate(value):
            yield from broken_rules(items, entry, (*at, index))


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


def _finding(explanation: Explanation, value: Any, at: Path) -> Problem:
    """The finding for a broken rule: at the key to change if the author wrote it, otherwise at the block."""
    at_key = explanation.key in value
    return Problem(
        (*at, explanation.key) if at_key else at,
        explanation.code,
        explanation.message,
        tuple(explanation.notes),
        explanation.fix,
        at_key=at_key,
    )


def _duplicates(keys: list[str], entries: list[dict[str, Any]], at: Path) -> Iterator[Problem]:
    seen: dict[tuple[Any, ...], int] = {}
    for index, entry in enumerate(entries):
        first = seen.setdefault(tuple(entry.get(key) for key in keys), index)
        if first != index:
            message = f"{' and '.join(keys)} must differ between entries, entry {first} has the same"
            yield Problem((*at, index), "duplicate", message, fix="remove one of them")


def check_part(kind: str, part: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """The problems of a part of a spec. Missing keys are no problem, because other layers can add them.

    Args:    part: as written; `null` removes a key.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    if part:  # most blocks have no keys of Flux's own, and a validator takes a while to build
        yield from misfits_of_part(schema, dict(part), at)


def check_spec(kind: str, spec: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """The problems of the spec of a Flux object.

    CEL rules and texts with a grammar of their own rely on the structure, so they are checked only if the structure is right.
    Args:    spec: JSON data as it would be sent, without null; defaults may be missing. at: its path in the document.
    Returns: findings at paths below `at`, as if the author had written the spec there.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    complete = completed(schema.spec, dict(spec))
    has_misfit = False
    for finding in misfits(schema, complete, at):
        has_misfit = True
        yield finding
    if not has_misfit:
        yield from broken_rules(schema.spec, complete, at)
        yield from text_problems(kind, spec, at)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The message for a block that breaks the rule.

    key: the finding points at this key if the author wrote it, otherwise at the block.
    """

    message: str
    key: str = ""
    fix: str = ""
    notes: Sequence[str] = ()
    code: str = "bad-combination"


@cache
def explanations() -> dict[str, Explanation]:
    """By the rule."""
    rows = yaml.safe_load(File(__file__).with_name("explanations.yaml").read_bytes())
    return {row.pop("rule"): Explanation(**row) for row in rows}
