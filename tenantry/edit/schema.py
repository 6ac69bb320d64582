"""What may stand at a path of tenants.yaml, as its JSON Schema says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tenantry.fleet.json_schema import json_schema
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path

Schema = Mapping[str, Any]

_SAME_WHEN_EMPTY = frozenset({"quota", "limits", "default", "defaultRequest", "max", "min", "maxLimitRequestRatio"})
"""Keys that may be null and whose empty mapping says nothing."""


_SAYS_WHAT = frozenset({"type", "properties", "enum", "const", "items"})
"""Keywords of schemas that say what a value is. The others only constrain it."""


_FLUX = frozenset({"kustomize", "helm", "git", "oci", "bucket", "externalArtifact"})
"""Blocks whose keys are Flux's."""
_FIRST = ("clusters", "environments", "scope", "source")


@cache
def _document() -> Schema:
    return json_schema()


def schemas_at(path: Path) -> list[Schema]:
    """The schemas that a value at a path can follow. None: no such key exists; an empty one: the value can be anything."""
    found: list[Schema] = list(_choices(_document()))
    for part in path:
        found = [each for schema in found for each in _step(schema, part)]
    return found


def keys_at(path: Path) -> list[str]:
    """The keys of the mapping at a path, in the order of the reference; empty if its keys are names or anything."""
    return list(dict.fromkeys(key for schema in schemas_at(path) for key in schema.get("properties", ())))


def ranks_at(path: Path) -> dict[str, int]:
    """The order of the keys at a path: that of the reference, but where something runs comes before what runs.

    Empty if the keys are names, or Flux's own, which have no order.
    """
    if any(part in _FLUX for part in path):
        return {}
    keys = keys_at(path)
    if "overrides" in keys:
        keys = [*(each for each in _FIRST if each in keys), *(each for each in keys if each not in _FIRST)]
    return {key: rank for rank, key in enumerate(keys)}


def text_of(path: Path) -> str:
    """What the key at a path means; "" if it is a name."""
    for schema in schemas_at(path[:-1]):
        own = schema.get("properties", {}).get(path[-1])
        if own is not None:
            return str(own.get("description", ""))
    return ""


def is_name(path: Path) -> bool:
    """Whether the last part of a path is the name of something that has keys of its own: a tenant, an app, a cluster."""
    return (
        bool(path)
        and isinstance(path[-1], str)
        and any(
            part.get("properties")
            for schema in schemas_at(path[:-1])
            if path[-1] not in schema.get("properties", {})
            for part in _step(schema, path[-1])
        )
    )


def takes_mapping(path: Path) -> bool:
    """Whether a mapping may stand at a path."""
    return any(schema.get("type") in (None, "object") for schema in schemas_at(path))


def goes_when_empty(path: Path) -> bool:
    """Whether a key whose mapping or list becomes empty is removed, because its absence means the same."""
    if len(path) > 2 and path[-3] == "overrides" and path[-2] in ("environments", "clusters"):
        return True
    for schema in schemas_at(path[:-1]):
        own = schema.get("properties", {}).get(path[-1])
        if own is not None:
            optional = path[-1] not in schema.get("required", ())
            return optional and (path[-1] in _SAME_WHEN_EMPTY or not _may_be_null(own))
    return False


def emptied_by(data: Any, path: Path) -> Path:
    """The path to remove so that nothing empty stays whose absence means the same."""
    while len(path) > 1 and len(value_at(data, path[:-1])) == 1 and goes_when_empty(path[:-1]):
        path = path[:-1]
    return path


def _may_be_null(schema: Schema) -> bool:
    return any(each.get("type") == "null" for each in _choices(schema))


def _choices(schema: Any) -> Iterator[Schema]:
    """The schema and everything that it refers to, or lets one choose."""
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema:
        yield from _choices(_document()["$defs"][schema["$ref"].rpartition("/")[2]])
    for each in schema.get("anyOf", ()):
        yield from _choices(each)
    if not schema or _SAYS_WHAT & schema.keys():
        yield schema


def _step(schema: Schema, part: str | int) -> Iterator[Schema]:
    """The schemas of an entry of a mapping or list."""
    if isinstance(part, int):
        yield from _choices(schema.get("items"))
    elif part in schema.get("properties", {}):
        yield from _choices(schema["properties"][part])
    else:
        other = schema.get("additionalProperties", _anything(schema))
        yield from _choices({} if other is True else other)


def _anything(schema: Schema) -> Schema | bool:
    """What a mapping may hold whose schema does not say: anything, unless other types or keys are named."""
    return {} if schema.get("type") in (None, "object") and "enum" not in schema and "const" not in schema else False
