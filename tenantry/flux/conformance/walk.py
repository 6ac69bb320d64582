"""Functions that walk over a value and its schema together.

They ignore values of the wrong type, which `structure` reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

_T = TypeVar("_T")


def once(find: Callable[[dict[str, Any]], _T]) -> Callable[[dict[str, Any]], _T]:
    """A function of a schema that computes its result once for each. Mappings cannot be keys of a cache."""
    known: dict[int, tuple[dict[str, Any], _T]] = {}

    @wraps(find)
    def found(schema: dict[str, Any]) -> _T:
        # The schema is kept, so that no other can get its identity.
        entry = known.get(id(schema))
        if entry is None:
            entry = known[id(schema)] = (schema, find(schema))
        return entry[1]

    return found


def completed(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with the schema's defaults, as an API server adds them. Parts without defaults are not copied."""
    defaults = _defaults_of(schema)
    return value if defaults is None else defaults.completed(value)


@dataclass(frozen=True, slots=True)
class _Defaults:
    """The defaults of a schema with properties or items, and of those of its parts that have some."""

    own: dict[str, Any]
    properties: dict[str, _Defaults]
    items: _Defaults | None

    def completed(self, value: Any) -> Any:
        if isinstance(value, dict) and (self.own or self.properties):
            complete = self.own | value
            for key, part in self.properties.items():
                if key in value:
                    complete[key] = part.completed(value[key])
            return complete
        if isinstance(value, list) and self.items:
            return [self.items.completed(entry) for entry in value]
        return value


@once
def _defaults_of(schema: dict[str, Any]) -> _Defaults | None:
    """The defaults of a schema; None: it has none."""
    properties = schema.get("properties") or {}
    own = {key: part["default"] for key, part in properties.items() if "default" in part}
    parts = {key: found for key, part in properties.items() if (found := _defaults_of(part))}
    items = _defaults_of(schema["items"]) if schema.get("items") else None
    return _Defaults(own, parts, items) if own or parts or items else None


def described(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with None in place of parts of any type, such as the values of a chart.

    No rule reads these parts, but they can contain numbers beyond 64 bits, which CEL does not accept.
    """
    if isinstance(value, dict) and (properties := schema.get("properties")):
        return {key: described(properties[key], part) if key in properties else None for key, part in value.items()}
    if isinstance(value, list) and (items := schema.get("items")):
        return [described(items, entry) for entry in value]
    return value if "type" in schema else None
