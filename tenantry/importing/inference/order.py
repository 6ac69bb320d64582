"""Entries in the order of the documentation, which is the order of the model's fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.model.strict import Model

_FIRST = ("namespace", "namespaces", "serviceAccount", "environments", "clusters", "source", "chart", "version", "path")
_LAST = ("alerts", "receivers", "overrides", "adopt", "state")


def in_order(entry: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """The entry with its keys in order: where it is, what it is, and exceptions last."""
    fields = list(model.model_fields)

    def rank(key: str) -> tuple[int, int]:
        if key in _FIRST:
            return 0, _FIRST.index(key)
        if key in _LAST:
            return 3, _LAST.index(key)
        return (1, fields.index(key)) if key in fields else (2, 0)

    return {key: entry[key] for key in sorted(entry, key=rank)}
