"""The grammar of placeholders such as `{env}`: how they are written, and which texts contain one.

`fleet.template` decides which names exist and what their values are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Scalar: TypeAlias = str | int | float | bool
"""The value of a variable, as YAML has it."""
Variables: TypeAlias = Mapping[str, Scalar]
"""Placeholders by name."""

PLACEHOLDER = r"\{[^{}]*\}"
"""A placeholder by itself. The expression is valid in JSON Schema too."""

TOKEN = re.compile(rf"\${PLACEHOLDER}|\{{\{{|\}}\}}|\{{([^{{}}]*)\}}|[{{}}]")
"""Everything with braces. Flux substitutes `${NAME}` after building. Doubled braces become single braces. Group 1 is the name in a
placeholder. A single brace is a mistake."""


def names_in(text: str) -> Iterator[str]:
    """The names of the placeholders in a text."""
    return (match[1] for match in TOKEN.finditer(text) if match[1] is not None)


def all_names_in(data: object) -> Iterator[str]:
    """The names of the placeholders in all texts of plain data, without its keys."""
    if isinstance(data, str):
        yield from names_in(data) if "{" in data else ()
    elif isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from all_names_in(each)


def is_unfilled(value: Any) -> bool:
    """Whether filling in placeholders would change a value: a text with placeholders or doubled braces."""
    if not isinstance(value, str) or ("{" not in value and "}" not in value):
        return False
    return any(match[1] is not None or match[0] in ("{{", "}}") for match in TOKEN.finditer(value))
