"""The grammar of placeholders such as `{env}`: how they are written, and which texts contain one.

A name in single braces is a placeholder, and `{{name}}` is the text `{name}`. Of more braces around a name, two pairs are one:
`{{{name}}}` is its value in braces, `{{{{name}}}}` the text `{{name}}`. Every other brace is text: `${NAME}` is left to Flux.

`fleet.template` decides which names exist and what their values are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

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
    if isinstance(data, str):
        yield from names_in(data) if "{" in data else ()
    elif isinstance(data, dict | list):
        for below in data.values() if isinstance(data, dict) else data:
            yield from all_names_in(below)


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
    """The text that `with_values` turns into this one."""
    return _TOKEN.sub(lambda match: f"{'{' * _pairs(match)}{match[0]}{'}' * _pairs(match)}", text)


def _pairs(match: re.Match[str]) -> int:
    """How many pairs of braces are around a name; 0 for what Flux substitutes."""
    return min(len(match[1]), len(match[3])) if match[2] else 0
