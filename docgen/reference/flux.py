"""The keys of a block that are Flux's own: their structure from the CRDs, and the few that the fleet keeps to itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docgen.document.whole import flux_keys
from docgen.reference.kinds import words_of_schema
from docgen.reference.sections import merged_defaults
from tenantry.flux.schemas import schema_of
from tenantry.model import FluxBlock, Model


def flux_rows(block: type[Model]) -> list[tuple[str, str, str]]:
    """Key, type and default of every value that can be set, in the order of the alphabet; keys as `install.remediation.retries`."""
    filled = dict(_values(merged_defaults(block), "")) if issubclass(block, FluxBlock) else {}
    keys = flux_keys(block)
    return [row for key in sorted(keys) for row in _rows(key, keys[key], filled, required=False)]


def documentation(kind: str) -> str:
    """Where Flux says what the keys of a kind mean."""
    schema = schema_of(kind)
    return f"https://fluxcd.io/flux/components/{schema.group.partition('.')[0]}/{schema.plural}/"


def _rows(
    key: str, schema: dict[str, Any], filled: dict[str, Any], *, required: bool
) -> Iterator[tuple[str, str, str]]:
    inner, prefix = (schema["items"], f"{key}[]") if schema.get("type") == "array" else (schema, key)
    if not inner.get("properties"):
        default = filled.get(key, schema.get("default"))
        yield f"`{key}`", words_of_schema(schema), "required" if required else _shown(default)
    for name, part in sorted(inner.get("properties", {}).items()):
        yield from _rows(f"{prefix}.{name}", part, filled, required=name in inner.get("required", ()))


def _shown(default: Any) -> str:
    return "" if default is None else f"`{default if isinstance(default, str) else json.dumps(default)}`"


def _values(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _values(part, f"{key}.{name}".removeprefix("."))
    else:
        yield key, value
