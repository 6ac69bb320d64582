"""Where two pieces of plain data differ, field by field; knows nothing of Kubernetes but that manifests have names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Any


class Absent(Enum):
    """What stands for a value that is not there; `None` is a value."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Entry(str):
    """Part of a path: an entry of a list by its name, which stays the same when others come before it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """path: keys of mappings, and entries of lists by name (`Entry`) or by number; before, after: values or ABSENT."""

    path: tuple[str | int, ...]
    before: Any
    after: Any


def changed_fields(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[FieldChange]:
    """The outermost values that differ; none for equal data, whatever the order of keys. True is not 1, and 1 is not 1.0."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from changed_fields(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _changed_entries(before, after, path)
    elif type(before) is not type(after) or before != after:
        yield FieldChange(path, before, after)


def _changed_entries(before: list[Any], after: list[Any], path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    named_before, named_after = _named(before), _named(after)
    if named_before is None or named_after is None:
        yield from _changed_numbers(before, after, path)
        return
    found = False
    for name in dict.fromkeys((*named_before, *named_after)):
        for change in changed_fields(
            named_before.get(name, ABSENT), named_after.get(name, ABSENT), (*path, Entry(name))
        ):
            found = True
            yield change
    if not found and list(named_before) != list(named_after):
        yield FieldChange(path, list(named_before), list(named_after))


def _changed_numbers(before: list[Any], after: list[Any], path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    """Entries without names: what both lists start and end with is left aside."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True), start):
            yield from changed_fields(one, other, (*path, number))
        return
    yield from (FieldChange((*path, number), each, ABSENT) for number, each in enumerate(old, start))
    yield from (FieldChange((*path, number), ABSENT, each) for number, each in enumerate(new, start))


def _alike(before: list[Any], after: list[Any]) -> int:
    """How many entries from the start are the same."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: next(changed_fields(*pair), None) is None, pairs))


def _named(entries: list[Any]) -> dict[str, Any] | None:
    """The entries by their names; None: not all have one of their own."""
    names = [_name(entry) for entry in entries]
    if None in names or len(set(names)) < len(names):
        return None
    return {str(name): entry for name, entry in zip(names, entries, strict=True)}


def _name(entry: Any) -> str | None:
    """What an entry of a list is called: a manifest by kind and name, anything else by its `name`."""
    if not isinstance(entry, dict):
        return None
    metadata = entry.get("metadata")
    if isinstance(entry.get("kind"), str) and isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
        return f"{entry['kind']} {'/'.join(str(metadata[key]) for key in ('namespace', 'name') if key in metadata)}"
    name = entry.get("name")
    return name if isinstance(name, str) else None
