"""Texts as tenants.yaml writes them literally: its placeholders have braces, and Flux's own `${NAME}` stays as it is."""

from __future__ import annotations

import re
from typing import Any

_BRACES = re.compile(r"\$\{[^{}]*\}|[{}]")


def literal_mapping(data: dict[str, Any]) -> dict[str, Any]:
    """The same for a mapping."""
    return {key: literal(each) for key, each in data.items()}


def literal(value: Any) -> Any:
    """Plain data whose texts mean themselves, although the file knows placeholders."""
    if isinstance(value, str):
        return _BRACES.sub(lambda found: found[0] if found[0].startswith("$") else found[0] * 2, value)
    if isinstance(value, dict):
        return {key: literal(each) for key, each in value.items()}
    return [literal(each) for each in value] if isinstance(value, list) else value
