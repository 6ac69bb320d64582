"""Types, keys, enumerations, patterns and bounds: a JSON Schema library finds the errors, this module writes the messages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from tenantry.flux.schemas import Schema, schema_of
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
_FORMS = {
    _WITH_HOURS: ("a valid duration", "write it as '30s', '5m' or '1h30m'", "bad-duration"),
    r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$": (
        "a valid duration here",
        "write it as '30s' or '90m': hours are not allowed here",
        "bad-duration",
    ),
    r"^(http|https)://.*$": ("a valid URL", "begin it with 'https://' or 'http://'", "bad-value"),
}
"""For patterns that are hard to read: what they mean, how to write a value that matches, and the code of the finding."""


def misfits(schema: Schema, value: dict[str, Any], at: Path) -> Iterator[Problem]:
    """The errors in the structure of a value at a path of the document."""
    errors = list(_validator(schema.kind, of_part=False).iter_errors(value))
    yield from _worded(errors, schema, at)


def misfits_of_part(schema: Schema, value: dict[str, Any], at: Path) -> Iterator[Problem]:
    """As `misfits`, for a part of a spec as written: other layers can add missing keys, and `null` removes a key.

    Texts with placeholders are not checked here, but after the placeholders are filled in.
    """
    errors = _validator(schema.kind, of_part=True).iter_errors(_without_null(value))
    given = [error for error in errors if error.kind.name not in _OF_TEXT or not is_unfilled(error.instance)]
    yield from _worded(given, schema, at)


def _worded(errors: list[ValidationError], schema: Schema, at: Path) -> Iterator[Problem]:
    mistyped = [error.instance_path for error in errors if error.kind.name == "type"]
    for error in errors:
        # A value of the wrong type breaks other constraints too. One error for it is enough.
        if error.kind.name == "type" or error.instance_path not in mistyped:
            yield from _findings(error, schema.spec, (*at, *error.instance_path))


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


def _without_null(value: dict[str, Any]) -> dict[str, Any]:
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
            yield not_allowed(place, value, map(str, limit))
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
    part_schema: dict[str, Any] = part
    return part_schema
