"""Writes results as JSON. The result is the document: its fields are the keys, in camelCase.

A class whose result has properties, or whose fields are not all for programs, lists the attributes that are keys in `json_keys`.
Never: masks. Results hold no secret, because whoever makes a message or a difference masks it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Final

from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from tenantry.messages.data import ABSENT
from tenantry.messages.errors import NOWHERE

API_VERSION: Final = "tenantry/v1"


def as_json(result: Any, kind: str = "") -> str:
    """The JSON of a result, in ASCII. Args: kind: of the document; "" for data of another format, such as a JSON Schema.

    Raises: TypeError: a value has no form in JSON.
    """
    data = plain(result)
    document = {"apiVersion": API_VERSION, "kind": kind, **data} if kind else data
    # In a fifth of the time of `json`, which would also write NaN.
    text = to_json(document, indent=2, ensure_ascii=True, inf_nan_mode="strings").decode()
    return text.replace("\x7f", "\\u007f")


def plain(value: Any) -> Any:
    """Mappings, lists and scalars alone. A key whose value is ABSENT, or the place of what is in no file, is left out."""
    kind: type = type(value)
    # Most values are in manifests, so their types come first.
    if kind in _SCALARS or (kind is str and value.isascii()):
        return value
    if kind is dict:
        return {_key(key): plain(item) for key, item in value.items() if item is not ABSENT}
    if kind is list:
        return [plain(item) for item in value]
    if keys := _keys(kind):
        pairs = ((key, getattr(value, name)) for name, key in keys)
        return {key: plain(item) for key, item in pairs if item is not ABSENT and item is not NOWHERE}
    match value:
        case Enum():
            return plain(value.value)
        case str():
            # A file name can hold half a character, which has no form in JSON.
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case Mapping():
            return plain(dict(value))
        case tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return [plain(item) for item in sorted(value)]
        case Path():
            return plain(str(value))
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    raise TypeError(f"{kind.__name__} has no form in JSON")


_SCALARS = frozenset({int, float, bool, NoneType})


def _key(key: Any) -> str:
    """A key of a mapping. Those of YAML can be numbers, true and null."""
    key = plain(key)
    return key if isinstance(key, str) else json.dumps(key)


@cache
def _keys(kind: type) -> tuple[tuple[str, str], ...]:
    """The attributes of a result with their keys; none for what is no dataclass and no named tuple."""
    names: Iterable[str] = getattr(kind, "json_keys", ())
    if not names and dataclasses.is_dataclass(kind):
        names = (field.name for field in dataclasses.fields(kind))
    return tuple((name, to_camel(name)) for name in names or getattr(kind, "_fields", ()))
