"""The grammar of placeholders such as `{env}`: how they are written, and which texts hold one.

Which names there are and what they stand for is decided by `fleet.template`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

PLACEHOLDER = r"\{[^{}]*\}"
"""A placeholder alone, in the form that JSON Schema understands too."""

TOKEN = re.compile(rf"\${PLACEHOLDER}|\{{\{{|\}}\}}|\{{([^{{}}]*)\}}|[{{}}]")
"""Everything with braces. `${NAME}` belongs to Flux, which substitutes it after building; doubled braces stand for single
ones; group 1 is the name in a placeholder; a single brace is a mistake."""


def names_in(text: str) -> Iterator[str]:
    """The names of the placeholders in a text."""
    return (match[1] for match in TOKEN.finditer(text) if match[1] is not None)


def is_unfilled(value: Any) -> bool:
    """Whether filling in would change a value: it is text with a placeholder or with doubled braces."""
    if not isinstance(value, str) or ("{" not in value and "}" not in value):
        return False
    return any(match[1] is not None or match[0] in ("{{", "}}") for match in TOKEN.finditer(value))


def with_stand_ins(text: str, stand_in: str) -> str:
    """The text with something else in the place of every placeholder, to check the rest of it."""
    return TOKEN.sub(lambda match: match[0] if match[1] is None else stand_in, text)
