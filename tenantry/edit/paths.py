"""Paths as messages and commands write them, such as `tenants.rocky.owners[0]`, and what the JSON Schema lets stand there.

Called by: the commands, for their arguments; `editor`, for the order of keys and for what goes when it is empty.
Never: knows a key by itself: the schema, which follows from the model, says all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from tenantry.fleet.json_schema import NOTHING, json_schema
from tenantry.kube.yaml_text import outcome
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import USAGE, InvalidFleet, Path, Refused
from tenantry.messages.text import counted, declared, format_path
from tenantry.source.parse import parse
from tenantry.source.parsed_file import override_of

Schema = Mapping[str, Any]
ValueAt = Callable[[Path], Any]
"""The value at a path of the fleet's files, or ABSENT."""

END = -1
"""In place of the index of an entry: behind the last one."""

_PART = re.compile(
    r"""\[(?P<end>)\] | \[(?P<index>[0-9]{1,9})\] | \["(?P<double>[^"]*)"\] | \['(?P<single>[^']*)'\]
    | \[(?P<bare>[^\[\]"']+)\] | "(?P<quoted>[^"]*)" | (?P<plain>[^.\[\]"]+)""",
    re.VERBOSE,
)
_EXAMPLES = 'tenants.rocky.quota["requests.cpu"], tenants.rocky.owners[0]'

_SAME_WHEN_EMPTY = frozenset({"quota", "limits", "default", "defaultRequest", "max", "min", "maxLimitRequestRatio"})
"""Keys that may be null and whose empty mapping says nothing."""
_SAYS_WHAT = frozenset({"type", "properties", "enum", "const", "items"})
"""Keywords of schemas that say what a value is. The others only constrain it."""
_FLUX = frozenset({"kustomize", "helm", "git", "oci", "bucket"})
"""Blocks whose keys are Flux's."""
_FIRST = ("when", "clusters", "environments", "source")
_TYPES = {
    bool: {"boolean"},
    int: {"integer", "number"},
    float: {"number"},
    str: {"string"},
    type(None): {"null"},
    list: {"array"},
    dict: {"object"},
}


# --- a path as text -----------------------------------------------------------------------------------------------------


def parse_path(text: str) -> Path:
    """The path that a text names; the inverse of `messages.text.format_path`.

    `[]` is the place behind the last entry of a list. A key with dots needs no quotes where no other key can follow it:
    `tenants.rocky.quota.requests.cpu`. Raises: Refused: it is not a path.
    """
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        if text[at] == "." and parts and text[at + 1 : at + 2] not in ("", ".", "["):
            at += 1
        match = _PART.match(text, at)
        if match is None or (parts and text[at - 1] != "." and text[at] != "["):
            message = f"'{text}' is not a path: character {at + 1} is not expected"
            raise Refused(message, f"write it as messages do: {_EXAMPLES}")
        kind = str(match.lastgroup)
        parts.append(END if kind == "end" else int(match[kind]) if kind == "index" else match[kind])
        at = match.end()
    if not parts:
        raise Refused("the path is empty", 'write it as messages do: tenants.rocky.quota["requests.cpu"]')
    return _with_dotted_key(tuple(parts))


def _with_dotted_key(path: Path) -> Path:
    for depth in range(1, len(path) - 1):
        if _holds_scalars(path[:depth]) and all(isinstance(part, str) for part in path[depth:]):
            return (*path[:depth], ".".join(map(str, path[depth:])))
    return path


def _holds_scalars(path: Path) -> bool:
    """Whether a mapping stands at a path whose keys are free, and whose values are no mappings and no lists."""
    mappings = [schema for schema in schemas_at(path) if schema.get("type") == "object"]
    values = [value for schema in mappings for value in _choices(schema.get("additionalProperties"))]
    scalar = all("type" in value and not {"object", "array"} & set(_types(value)) for value in values)
    return bool(values) and scalar and not any(schema.get("properties") for schema in mappings)


def located(path: Path, value_of: ValueAt) -> Path:
    """The path with indexes: `[]` is behind the last entry, and a text in a list is that of the entry with this text."""
    for depth, part in enumerate(path):
        held = value_of(path[:depth]) if depth else ABSENT
        if part == END:
            path = (*path[:depth], len(held) if isinstance(held, list) else 0, *path[depth + 1 :])
        elif isinstance(held, list) and part in held:
            path = (*path[:depth], held.index(part), *path[depth + 1 :])
    return path


def assignment(holder: Path, text: str) -> tuple[Path, Any]:
    """`quota.requests.cpu=8` as a path below a holder and a value. Raises: Refused."""
    written, equals, value = text.partition("=")
    if not equals or not written:
        raise Refused(f"'{text}' is not KEY=VALUE", "write it as 'quota.pods=40' or 'role=edit'", code=USAGE)
    path = parse_path(f"{format_path(holder)}.{written}")
    try:
        return path[len(holder) :], typed(path, parse(f"value: {value}".encode(), "VALUE").data["value"], value)
    except InvalidFleet:
        return path[len(holder) :], value


def typed(path: Path, value: Any, text: str) -> Any:
    """A value as YAML reads it; where only a list fits, the words between its commas. The text that it was read from where only a
    text fits, such as the version `1.10`, and where a program would get another one: a tag `1.10` is no 1.1.
    """
    key = str(next((part for part in reversed(path) if isinstance(part, str)), ""))
    if outcome(text.strip(), value, key, of_chart=True):
        return text
    allowed = {kind for schema in schemas_at(path) for kind in _types(schema)}
    if not allowed or "" in allowed or allowed & _TYPES[type(value)]:
        return value
    if "string" in allowed:
        return text
    return text.split(",") if "array" in allowed and isinstance(value, str) else value


# --- what may stand at a path -------------------------------------------------------------------------------------------


def schemas_at(path: Path) -> list[Schema]:
    """The schemas that a value at a path can follow. None: no such key exists; an empty one: the value can be anything."""
    schemas = list(_choices(_document()))
    for part in path:
        schemas = [below for schema in schemas for below in _step(schema, part)]
    return schemas


def keys_at(path: Path) -> list[str]:
    """The keys of the mapping at a path, in the order of the reference; empty if its keys are names or anything."""
    return list(dict.fromkeys(key for schema in schemas_at(path) for key in schema.get("properties", ())))


def ranks_at(path: Path) -> dict[str, int]:
    """The order of the keys at a path: that of the reference, but where something runs or holds comes before what does.

    Empty if the keys are names, or Flux's own, which have no order.
    """
    if any(part in _FLUX for part in path):
        return {}
    keys = keys_at(path)
    if "overrides" in keys or "when" in keys:
        keys = [*(key for key in _FIRST if key in keys), *(key for key in keys if key not in _FIRST)]
    return {key: rank for rank, key in enumerate(keys)}


def is_name(path: Path) -> bool:
    """Whether the last part of a path is the name of something that has keys of its own: a tenant, an app, a cluster."""
    if not path or not isinstance(path[-1], str):
        return False
    holders = [schema for schema in schemas_at(path[:-1]) if path[-1] not in schema.get("properties", {})]
    return any(below.get("properties") for schema in holders for below in _step(schema, path[-1]))


def goes_when_empty(path: Path) -> bool:
    """Whether a key whose mapping or list becomes empty is removed, because its absence means the same."""
    for schema in schemas_at(path[:-1]):
        own = schema.get("properties", {}).get(path[-1])
        if own is not None:
            may_be_null = any("null" in _types(choice) for choice in _choices(own))
            return path[-1] not in schema.get("required", ()) and (path[-1] in _SAME_WHEN_EMPTY or not may_be_null)
    return False


def emptied_by(data: Any, path: Path) -> Path:
    """The path to remove so that nothing empty stays whose absence means the same."""
    while len(path) > 1:
        above, depth = value_at(data, path[:-1]), _in_override(path[:-1])
        is_empty = len(above) == 1 and (goes_when_empty(path[:-1]) or (isinstance(above, dict) and depth > 0))
        says_where_alone = depth == 0 and above.keys() == {"when", path[-1]}
        if not is_empty and not says_where_alone:
            break
        path = path[:-1]
    return path


def _in_override(path: Path) -> int:
    """How many keys a path leads into an override, in which an empty mapping sets nothing; -1: it leads into none."""
    at = override_of(path)
    return len(path) - len(at) if at else -1


@cache
def _document() -> Schema:
    return json_schema()


def _types(schema: Schema) -> tuple[str, ...]:
    """The names of the types that a schema allows; "" for any."""
    if "const" in schema or "enum" in schema:
        return tuple("string" if isinstance(value, str) else "" for value in schema.get("enum", (schema.get("const"),)))
    types = schema.get("type", "")
    return tuple(types) if isinstance(types, list) else (types,)


def _choices(schema: Any) -> Iterator[Schema]:
    """The schema and everything that it refers to, or lets one choose."""
    if not isinstance(schema, Mapping):
        return
    if schema == NOTHING:
        yield {"type": "null"}
    elif "$ref" in schema:
        yield from _choices(_document()["$defs"][schema["$ref"].rpartition("/")[2]])
    of_one = schema.get("oneOf", ())
    # What follows the first of all only refuses, and so does a choice of keys.
    for choice in (*schema.get("anyOf", ()), *schema.get("allOf", ())[:1], *(of_one if NOTHING in of_one else ())):
        yield from _choices(choice)
    if not schema or _SAYS_WHAT & schema.keys():
        yield schema


def _step(schema: Schema, part: str | int) -> Iterator[Schema]:
    """The schemas of an entry of a mapping or list."""
    if isinstance(part, int):
        yield from _choices(schema.get("items"))
    elif part in schema.get("properties", {}):
        yield from _choices(schema["properties"][part])
    else:
        # A mapping whose schema does not say so may hold anything, unless other types or keys are named.
        is_open = schema.get("type") in (None, "object") and "enum" not in schema and "const" not in schema
        other = schema.get("additionalProperties", {} if is_open else False)
        yield from _choices({} if other is True else other)


# --- paths that cannot be meant -----------------------------------------------------------------------------------------


def check_named(path: Path, value_of: ValueAt) -> None:
    """Raises: Refused: a tenant, an app or another named thing on the way is not declared, and the edit would begin one."""
    for depth in range(1, len(path)):
        part = path[:depth]
        if is_name(part) and value_of(part) is ABSENT and not override_of(part):
            raise _absent(part, value_of(part[:-1]))


def not_there(path: Path, value_of: ValueAt) -> Refused:
    """The error for a path at which nothing stands."""
    depth = next((depth for depth in range(1, len(path) + 1) if value_of(path[:depth]) is ABSENT), len(path))
    return _absent(path[:depth], value_of(path[: depth - 1]))


def _absent(path: Path, above: Any) -> Refused:
    """The error for the first part of a path that is not there. Args: above: what stands at the path above."""
    fix = declared("declared", str(path[-1]), above) if isinstance(above, dict) else ""
    if isinstance(above, list):
        fix = f"'{format_path(path[:-1])}' has {counted(len(above), 'value')}, counted from [0]"
    return Refused(f"there is no '{format_path(path)}'", fix)
