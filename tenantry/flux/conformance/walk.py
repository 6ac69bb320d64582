"""Functions that walk over a value and its schema together.

They ignore values of the wrong type, which `structure` reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def completed(schema: dict[str, Any], value: Any) -> Any:
    """A copy of the value with the schema's defaults, as an API server adds them. Parts without a schema are not copied."""
    if isinstance(value, dict) and (properties := schema.get("properties")):
        defaults = {key: part["default"] for key, part in properties.items() if "default" in part}
        given = {key: completed(properties[key], part) if key in properties else part for key, part in value.items()}
        return defaults | given
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


def parts(schema: dict[str, Any], value: Any) -> Iterator[tuple[str | int, dict[str, Any], Any]]:
    """The key, schema and value of each direct part that the schema describes: properties and list entries."""
    if isinstance(value, dict):
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield key, part, value[key]
    elif isinstance(value, list) and (items := schema.get("items")):
        for index, entry in enumerate(value):
            yield index, items, entry
