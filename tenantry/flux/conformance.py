"""Checks offline whether an API server would accept a Flux object, and reports problems in the author's terms.

In the same order as an API server: defaults, the structure (JSON Schema: a library finds the errors, this module writes the
messages), then how fields relate to each other (CEL, with our text for each rule), then lists with equal keys. The schemas are
derived from the pinned Flux (`tenantry.flux.schemas`). What a controller rejects later, such as a reference to an object that does
not exist, is not found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import yaml

from tenantry.flux.schemas import schema_of
from tenantry.flux.texts import text_problems
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import (
    empty_list,
    empty_string,
    missing_key,
    no_match,
    not_allowed,
    not_of_form,
    shown,
    unknown_key,
    wrong_type,
)
from tenantry.model.durations import duration_fix, is_bounded

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError


def check_part(kind: str, part: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """The problems of a part of a spec as written. Missing keys are no problem, because other layers can add them, and `null`
    removes a key. Texts with placeholders are checked when these are filled in.

    Raises: KeyError: there is no such kind.
    """
    if part:  # most blocks have no keys of Flux's own, and a validator takes a while to build
        errors = _validator(kind, of_part=True).iter_errors(_without_null(part))
        given = [error for error in errors if error.kind.name not in _OF_TEXT or not is_unfilled(error.instance)]
        yield from misfits(given, schema_of(kind).spec, at)


def check_spec(kind: str, spec: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """The problems of the spec of a Flux object.

    CEL rules and texts with a grammar of their own rely on the structure, so they are checked only if the structure is right.
    Args:    spec: JSON data as it would be sent, without null; defaults may be missing. at: its path in the document.
    Returns: findings at paths below `at`, as if the author had written the spec there.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    complete = completed(schema.spec, dict(spec))
    if broken := list(misfits(_validator(kind, of_part=False).iter_errors(complete), schema.spec, at)):
        yield from broken
    else:
        yield from _broken_rules(schema.spec, _described(schema.spec, complete), at)
        yield from text_problems(kind, spec, at)


def completed(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with the schema's defaults, as an API server adds them."""
    if isinstance(value, dict) and (properties := schema.get("properties")):
        own = {key: part["default"] for key, part in properties.items() if "default" in part}
        return own | {key: completed(properties.get(key, {}), part) for key, part in value.items()}
    if isinstance(value, list) and (items := schema.get("items")):
        return [completed(items, entry) for entry in value]
    return value


# --- structure --------------------------------------------------------------------------------------------------------

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "string": "a string",
    "null": "nothing",
}
"""Names of types, in the order in which a message lists them."""
_OF_TEXT = ("enum", "format", "pattern", "minLength", "maxLength")
_DURATION = "duration-of-go"
_WITH_HOURS = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
QUANTITY = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
_FORMS = {
    QUANTITY: ("a quantity", "write it as '500m', '4' or '8Gi'", "bad-quantity"),
    _WITH_HOURS: ("a valid duration", "write it as '30s', '5m' or '1h30m'", "bad-duration"),
    r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$": (
        "a valid duration here",
        "write it as '30s' or '90m': hours are not allowed here",
        "bad-duration",
    ),
    r"^(http|https)://.*$": ("a valid URL", "begin it with 'https://' or 'http://'", "bad-value"),
}
"""For patterns that are hard to read: what they mean, how to write a value that matches, and the code of the finding."""


def misfits(errors: Iterable[ValidationError], schema: dict[str, Any], at: Path) -> Iterator[Problem]:
    """What a validator found, in the author's terms. Args: schema: the validator's; at: the path of what was validated."""
    errors = list(errors)
    mistyped = [error.instance_path for error in errors if error.kind.name == "type"]
    for error in errors:
        # A value of the wrong type breaks other constraints too. One error for it is enough.
        if error.kind.name == "type" or error.instance_path not in mistyped:
            yield from _findings(error, schema, (*at, *error.instance_path))


@cache
def _validator(kind: str, *, of_part: bool) -> Draft202012Validator:
    # Importing the library takes as long as the rest of a short command.
    import jsonschema_rs

    # This engine takes linear time and has no look-around, like the engine of API servers.
    options, formats = jsonschema_rs.RegexOptions(), {_DURATION: is_bounded}
    schema = part_of_spec(kind) if of_part else schema_of(kind).spec
    return jsonschema_rs.Draft202012Validator(
        _with_formats(schema), pattern_options=options, formats=formats, validate_formats=True
    )


def part_of_spec(kind: str) -> dict[str, Any]:
    """A copy of the JSON Schema of a kind's spec without required keys and x- keywords. Raises: KeyError: no such kind."""
    return _nothing_required(schema_of(kind).spec)


def _with_formats(schema: Any) -> Any:
    """A copy of a schema in which durations are marked: as a pattern alone, they have no upper bound."""
    if isinstance(schema, list):
        return [_with_formats(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    marked = {key: _with_formats(part) for key, part in schema.items()}
    is_duration = _FORMS.get(str(schema.get("pattern")), ("", "", ""))[2] == "bad-duration"
    return marked | {"format": _DURATION} if is_duration else marked


def _nothing_required(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy without required keys in mappings. Entries of lists keep theirs, because layers replace whole lists."""
    part = {key: value for key, value in schema.items() if key != "required" and not key.startswith("x-")}
    if "properties" in part:
        part["properties"] = {key: _nothing_required(value) for key, value in part["properties"].items()}
    return part


def _without_null(value: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: part for key, part in value.items() if part is not None}
    return {key: _without_null(part) if isinstance(part, dict) else part for key, part in given.items()}


def _findings(error: ValidationError, schema: dict[str, Any], place: Path) -> Iterator[Problem]:
    keyword, limit, value = error.kind.name, error.kind.value, error.instance
    match keyword:
        case "additionalProperties":
            known = _schema_at(schema, error.schema_path[:-1]).get("properties", ())
            yield from (unknown_key((*place, key), known) for key in limit)
        case "required":
            yield missing_key(place, limit)
        case "type":
            expected = _schema_at(schema, error.schema_path[:-1])
            pattern = expected.get("pattern", "")
            number = isinstance(value, int | float) and not isinstance(value, bool)
            fix = _fix(pattern, str(value)) if number and pattern in _FORMS else ""
            keys = expected.get("required") or list(expected.get("properties", ()))[:4]
            yield wrong_type(place, " or ".join(_TYPES[name] for name in _TYPES if name in limit), value, keys, fix)
        case "enum":
            yield not_allowed(place, value, filter(None, map(str, limit)))
        case "pattern":
            if limit in _FORMS:
                what, _, code = _FORMS[limit]
                yield not_of_form(place, value, what, _fix(limit, str(value)), code)
            else:
                yield no_match(place, value, limit)
        case "format":
            yield Problem(place, "bad-duration", f"{shown(value)} is too long: a year is the most")
        case "minItems" | "minProperties" if limit == 1:
            yield empty_list(place)
        case "minLength" if limit == 1:
            yield empty_string(place)
        case "uniqueItems":
            yield Problem(place, "duplicate", "no two entries may be equal", fix="remove one of them")
        case _:
            yield Problem(place, "bad-value", _beyond(keyword, limit, value))


def _fix(pattern: str, value: str) -> str:
    """What to write for a value that does not match a pattern of `_FORMS`."""
    return duration_fix(value) if pattern == _WITH_HOURS else _FORMS[pattern][1]


def _beyond(keyword: str, limit: int, value: Any) -> str:
    """The message for a value that is too large or too small."""
    what, count = "", value
    if not keyword.endswith("imum"):
        what, count = (" character" if isinstance(value, str) else " entry"), len(value)
        what = what if limit == 1 else {" entry": " entries"}.get(what, f"{what}s")
    verb = "is" if limit == 1 or not what else "are"
    bound = f"{limit}{what} {verb}"
    return (
        f"at least {bound} needed, found {count}"
        if keyword.startswith("min")
        else f"at most {bound} allowed, found {count}"
    )


def _schema_at(schema: dict[str, Any], path: list[str | int]) -> dict[str, Any]:
    part: Any = schema
    for step in path:
        part = part[step]
    return dict(part)


# --- rules between fields ---------------------------------------------------------------------------------------------


def _described(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with None in place of parts of any type, such as the values of a chart.

    No rule reads these parts, but they can contain numbers beyond 64 bits, which CEL does not accept.
    """
    if isinstance(value, dict) and (properties := schema.get("properties")):
        return {key: _described(properties[key], part) if key in properties else None for key, part in value.items()}
    if isinstance(value, list) and (items := schema.get("items")):
        return [_described(items, entry) for entry in value]
    return value if "type" in schema else None


def _broken_rules(schema: dict[str, Any], value: Any, at: Path) -> Iterator[Problem]:
    """The rules that a value and its parts break. The value has the right structure and includes defaults."""
    for rule in schema.get("x-kubernetes-validations", ()):
        if not holds(rule, value):
            explained = explanations()[rule]
            key, code = explained.get("key", ""), explained.get("code", "bad-combination")
            # At the key to change if the author wrote it, otherwise at the block.
            at_key, notes = key in value, tuple(explained.get("notes", ()))
            place = (*at, key) if at_key else at
            yield Problem(place, code, explained["message"], notes, explained.get("fix", ""), at_key)
    if keys := schema.get("x-kubernetes-list-map-keys"):
        seen: dict[tuple[Any, ...], int] = {}
        for index, entry in enumerate(value):
            if (first := seen.setdefault(tuple(entry.get(key) for key in keys), index)) != index:
                message = f"{' and '.join(keys)} must differ between entries, entry {first} has the same"
                yield Problem((*at, index), "duplicate", message, fix="remove one of them")
    if isinstance(value, dict):
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield from _broken_rules(part, value[key], (*at, key))
    elif isinstance(value, list) and (items := schema.get("items")):
        for index, entry in enumerate(value):
            yield from _broken_rules(items, entry, (*at, index))


def holds(rule: str, value: Any) -> bool:
    """Whether a value satisfies a rule. As on an API server, a rule that cannot be evaluated is not satisfied."""
    return _compiled(rule).eval(data={"self": value}).value() is True


@cache
def _compiled(rule: str) -> Any:
    return _environment().compile(rule)


@cache
def _environment() -> Any:
    # Most commands, and fleets without rules to check, do not need it.
    from cel_expr_python import cel  # type: ignore[import-untyped]

    return cel.NewEnv(variables={"self": cel.Type.DYN})


@cache
def explanations() -> dict[str, dict[str, Any]]:
    """What each rule says in the author's words: message, key, fix, notes, code."""
    rows = yaml.safe_load(File(__file__).with_name("explanations.yaml").read_bytes())
    return {row["rule"]: row for row in rows}
