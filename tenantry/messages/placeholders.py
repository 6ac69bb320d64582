"""Placeholders such as `{env}`: how they are written, which texts contain one, and the texts with their values.

A name in single braces is a placeholder, and `{{name}}` is the text `{name}`. Of more braces around a name, two pairs are one:
`{{{name}}}` is its value in braces, `{{{{name}}}}` the text `{{name}}`. Every other brace is text: `${NAME}` is left to Flux.

An unknown name is an error, never an empty string. A placeholder that is the whole value keeps its type, a number or `true`, where
a program reads the value: in the values of a chart and in objects (`fill_block`, `fill_manifest`). Everywhere else it becomes text.
`fleet.settings` decides which names exist and what their values are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tenantry.messages.data import texts_in
from tenantry.messages.errors import MAX_PROBLEMS, UNKNOWN_PLACEHOLDER, InvalidPart, Path, Problem
from tenantry.messages.redact import shorten
from tenantry.messages.text import closest, declared

Scalar: TypeAlias = str | int | float | bool
"""The value of a variable, as YAML has it."""
Variables: TypeAlias = Mapping[str, Scalar]
"""Placeholders by name."""

# What a variable or a label may be called. Digits alone are how often something repeats in a regular expression.
_NAME = r"(?!\d+\})(?:[a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9](?:[\w.-]*\w)?"
PLACEHOLDER = rf"\{{{_NAME}\}}"
"""A placeholder by itself. The expression is valid in JSON Schema too."""
_TOKEN = re.compile(rf"\$\{{[^{{}}]*\}}|(?<!\{{)(\{{++)({_NAME})(\}}++)", re.ASCII)


def names_in(text: str) -> Iterator[str]:
    """The names of the placeholders in a text."""
    return (match[2] for match in _TOKEN.finditer(text) if _pairs(match) % 2)


def all_names_in(data: object) -> Iterator[str]:
    """The names of the placeholders in all texts of plain data, without its keys."""
    return (name for _, text in texts_in(data) if "{" in text for name in names_in(text))


def is_unfilled(value: Any) -> bool:
    """Whether filling in placeholders would change a value: a text with a name in braces."""
    return isinstance(value, str) and "{" in value and any(map(_pairs, _TOKEN.finditer(value)))


def with_values(text: str, value: Callable[[str], str]) -> str:
    """The text with the value of each placeholder in its place. Args: value: by name."""

    def replaced(match: re.Match[str]) -> str:
        pairs = _pairs(match)
        removed = (pairs + 1) // 2
        name = value(match[2]) if pairs % 2 else match[2]
        return f"{match[1][removed:]}{name}{match[3][removed:]}" if pairs else match[0]

    return _TOKEN.sub(replaced, text)


def escaped(text: str) -> str:
    """The text that `fill` turns into this one."""
    return _TOKEN.sub(lambda match: f"{'{' * _pairs(match)}{match[0]}{'}' * _pairs(match)}", text)


def _pairs(match: re.Match[str]) -> int:
    """How many pairs of braces are around a name; 0 for what Flux substitutes."""
    return min(len(match[1]), len(match[3])) if match[2] else 0


# --- filling in ---------------------------------------------------------------------------------------------------

BUILT_IN = ("env", "tenant", "app", "cluster", "management")
_WHOLE = re.compile(PLACEHOLDER, re.ASCII)
_TEXTS_OF_MANIFESTS = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}
"""The fields of each kind that hold nothing but text, besides the metadata."""


def fill(value: Any, variables: Variables, at: Path) -> Any:
    """A copy of plain data with the placeholders of all its strings filled in as text; keys of mappings are left alone.

    Args:   at: the path of the value, for errors.
    Raises: InvalidPart: one finding per string that cannot be filled in.
    """
    return _filled(value, variables, at)


def fill_block(block: Mapping[str, Any], variables: Variables, at: Path) -> dict[str, Any]:
    """A block of an app, in which only the `values` of a chart keep types. Raises: InvalidPart."""
    filled: dict[str, Any] = _filled(block, variables, at, lambda key: key == "values")
    return filled


def fill_manifest(manifest: Mapping[str, Any], variables: Variables, at: Path) -> dict[str, Any]:
    """A manifest, in which all fields keep types but those that Kubernetes has as text. Raises: InvalidPart."""
    texts = ("apiVersion", "kind", "metadata", *_TEXTS_OF_MANIFESTS.get(str(manifest.get("kind")), ()))
    filled: dict[str, Any] = _filled(manifest, variables, at, lambda key: key not in texts)
    return filled


def _filled(value: Any, variables: Variables, at: Path, keeps_types: Callable[[str], bool] = lambda _: False) -> Any:
    """Args: keeps_types: whether the part under a key does. Raises: InvalidPart: with all that cannot be filled in."""
    problems: list[Problem] = []

    def fill_in(value: Any, at: Path, *, typed: bool) -> Any:
        if isinstance(value, str):
            if "{" not in value:
                return value
            name = value[1:-1] if typed and _WHOLE.fullmatch(value) else ""
            return variables[name] if name in variables else with_values(value, lambda name: known(name, at))
        if isinstance(value, dict):
            return {key: fill_in(item, (*at, key), typed=typed) for key, item in value.items()}
        if isinstance(value, list):
            return [fill_in(item, (*at, index), typed=typed) for index, item in enumerate(value)]
        return value

    def known(name: str, at: Path) -> str:
        given = variables.get(name)
        # A text can have hundreds of thousands of placeholders, and each unknown one is compared with all that are known.
        if (given is None or isinstance(given, float)) and len(problems) <= MAX_PROBLEMS:
            problems.append(_unknown(name, variables, at) if given is None else _decimal(name, at))
        return "" if given is None else text_of(given)

    filled = (
        {key: fill_in(part, (*at, key), typed=keeps_types(key)) for key, part in value.items()}
        if isinstance(value, Mapping)
        else fill_in(value, at, typed=False)
    )
    if problems:
        raise InvalidPart(problems)
    return filled


def text_of(value: Scalar) -> str:
    """A variable's value as text, as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _decimal(name: str, at: Path) -> Problem:
    return Problem(
        at,
        "decimal-as-text",
        f"variable '{name}' is a decimal number, and becomes text here, where 1.10 would be 1.1",
        fix="put its value in quotes where it is declared",
    )


def _unknown(name: str, variables: Variables, at: Path) -> Problem:
    near = closest(name, variables)
    meant = f"write '{{{near}}}'" if near else "correct the name"
    written = shorten(name)
    return Problem(
        at,
        UNKNOWN_PLACEHOLDER,
        f"placeholder '{{{written}}}' is not known here",
        (declared("known", name, variables),),
        fix=f"{meant}, declare it under the 'variables:' of {_owners(variables)}, or write '{{{{{written}}}}}' for text",
    )


def _owners(variables: Variables) -> str:
    """Who could declare a variable. Namespaces are the same on all clusters, and take no variables of tenants."""
    names = {"environment": "env", "cluster": "cluster", **({"tenant": "tenant"} if "cluster" in variables else {})}
    *most, last = [f"{what} '{variables[key]}'" for what, key in names.items() if key in variables] or ["environment"]
    return f"{', '.join(most)} or {last}" if most else last
