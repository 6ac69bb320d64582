"""What data becomes by an edit. Each function returns a copy, and shares what stays."""

from __future__ import annotations

from typing import Any

from tenantry.messages.data import replaced, value_at
from tenantry.messages.errors import Path


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same for every reader: 1, 1.0, true and "1" are four values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(each, other[key]) for key, each in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def inserted(data: Any, path: Path, value: Any, index: int) -> Any:
    """With a new entry at a path, before the one of this index."""
    above = value_at(data, path[:-1])
    if isinstance(above, list):
        return replaced(data, path[:-1], [*above[:index], value, *above[index:]])
    entries = list(above.items())
    return replaced(data, path[:-1], dict([*entries[:index], (path[-1], value), *entries[index:]]))


def removed(data: Any, path: Path) -> Any:
    """Without the entry at a path."""
    above = value_at(data, path[:-1])
    if isinstance(above, list):
        return replaced(data, path[:-1], [each for index, each in enumerate(above) if index != path[-1]])
    return replaced(data, path[:-1], {key: each for key, each in above.items() if key != path[-1]})


def renamed(data: Any, path: Path, key: str) -> Any:
    """With another key at a path."""
    above = value_at(data, path[:-1])
    return replaced(data, path[:-1], {key if each == path[-1] else each: value for each, value in above.items()})


def nested(path: Path, value: Any) -> Any:
    """The value below mappings with these keys, or lists."""
    for part in reversed(path):
        value = [value] if isinstance(part, int) else {part: value}
    return value
