"""Plain data (mappings, lists and scalars) by path: look up a value, replace it, leave it out.

Called by: code with a path into the file or a manifest.
Never: changes the data it is given, or knows what it means.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

from tenantry.messages.errors import Path


class Absent(Enum):
    """Represents a value that does not exist. `None` is a value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def value_at(data: Any, path: Path, default: Any = None) -> Any:
    """The value at a path, or the default."""
    for part in path:
        data = _step(data, part)
        if data is ABSENT:
            return default
    return data


def depth_of(data: Any, path: Path) -> int:
    """How many parts of the path exist in the data."""
    for depth, part in enumerate(path):
        data = _step(data, part)
        if data is ABSENT:
            return depth
    return len(path)


def mapping_at(data: Any, *path: str | int) -> dict[str, Any]:
    """The mapping at a path; empty if there is no mapping."""
    for part in path:
        data = data.get(part) if isinstance(data, dict) else _step(data, part)
    return data if isinstance(data, dict) else {}


def written(data: Any) -> bytes:
    """Data in bytes that tell the types of all values and the order of all keys; equal if and only if these are."""
    try:
        # The second version writes equal parts alike, whether or not they are one object. It takes half the time of `repr`.
        return marshal.dumps(data, 2)
    except ValueError:  # a type that is not Python's own
        return repr(data).encode("utf-8", "surrogatepass")


def mappings_in(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list; empty if there is no list."""
    return [mapping for mapping in value if isinstance(mapping, dict)] if isinstance(value, list) else []


def values_at(data: Any, keys: Sequence[str], at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What the data has at some keys, each with its path. `*` stands for each entry of a list or of a mapping."""
    if not keys:
        yield at, data
    elif keys[0] == "*":
        entries = data.items() if isinstance(data, Mapping) else enumerate(data if isinstance(data, list) else ())
        for key, entry in entries:
            yield from values_at(entry, keys[1:], (*at, key))
    elif isinstance(data, Mapping) and data.get(keys[0]) is not None:
        yield from values_at(data[keys[0]], keys[1:], (*at, keys[0]))


def with_texts(data: Any, changed: Callable[[str], str]) -> Any:
    """A copy of the data with other texts. Keys of mappings stay."""
    if isinstance(data, str):
        return changed(data)
    if isinstance(data, dict):
        return {key: with_texts(below, changed) for key, below in data.items()}
    return [with_texts(item, changed) for item in data] if isinstance(data, list) else data


def leaves(data: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of the data that is no mapping and no list of lists or mappings, with its path; empty mappings count."""
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from leaves(value, (*at, key))
    elif isinstance(data, list) and any(isinstance(item, list | Mapping) for item in data):
        for index, item in enumerate(data):
            yield from leaves(item, (*at, index))
    else:
        yield at, data


def scalars(data: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar of the data with its path."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from scalars(value, (*at, key))
    else:
        yield at, data


def texts_in(data: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of the data with its path, without the keys of mappings."""
    return ((path, value) for path, value in scalars(data, at) if isinstance(value, str))


def texts_and_keys(data: Any, at: Path = ()) -> Iterator[tuple[Path, str, bool]]:
    """Every text and every key of the data with its path, and whether it is the key there."""
    if isinstance(data, str):
        yield at, data, False
    elif isinstance(data, dict):
        for key, value in data.items():
            yield (*at, key), key, True
            yield from texts_and_keys(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from texts_and_keys(value, (*at, index))


def replaced(data: Any, path: Path, value: Any) -> Any:
    """A copy with another value at a path whose mappings and lists exist; everything beside the path is shared."""
    if not path:
        return value
    copy = data.copy()
    copy[path[0]] = replaced(data[path[0]], path[1:], value) if path[1:] else value
    return copy


def with_value(data: Any, path: Path, value: Any) -> dict[str, Any]:
    """A copy with a value at a path of mappings, which are made where there are none; everything beside the path is shared."""
    below = data if isinstance(data, dict) else {}
    key = str(path[0])
    return {**below, key: with_value(below.get(key), path[1:], value) if path[1:] else value}


def without(data: dict[str, Any], paths: Iterable[Path]) -> dict[str, Any]:
    """A copy that lacks the keys at some paths; everything beside the paths is shared."""
    copy = dict(data)
    for path in paths:
        parent = copy
        for part in path[:-1]:
            child = parent.get(str(part))
            if not isinstance(child, dict):
                break
            parent[str(part)] = parent = dict(child)
        else:
            parent.pop(str(path[-1]), None)
    return copy


def _step(data: Any, part: str | int) -> Any:
    if isinstance(data, dict):
        return data.get(part, ABSENT)
    if isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data):
        return data[part]
    return ABSENT


Tree: TypeAlias = "dict[str, Tree]"
"""Keys with those below them; entries of lists are passed over."""


def tree(words: str) -> Tree:
    """`a b(c d)` -> {"a": {}, "b": {"c": {}, "d": {}}}"""
    whole: Tree = {}
    levels, last = [whole], ""
    for word in words.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            levels.append(levels[-1][last])
        elif word == ")":
            levels.pop()
        else:
            last = word
            levels[-1][word] = {}
    return whole


def ordered(data: Any, order: Tree) -> Any:
    """A copy of the data whose keys stand in an order, as far as it has them; the others follow as they were."""
    if isinstance(data, list):
        return [ordered(entry, order) for entry in data]
    if not order or not isinstance(data, dict):
        return data
    keys = dict.fromkeys((*(key for key in order if key in data), *data))
    return {key: ordered(data[key], order.get(key, {})) for key in keys}


def nested(path: Path, value: Any) -> Any:
    """The value below mappings with these keys, or lists."""
    for part in reversed(path):
        value = [value] if isinstance(part, int) else {part: value}
    return value
