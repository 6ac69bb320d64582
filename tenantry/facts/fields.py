"""Compares plain data field by field, and reduces live data to the fields that planned data sets.

An apply changes the fields that a plan sets and leaves the others unchanged, so only those are compared.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.masking import Secrecy, masked_pair, secrecy_below

_WITHOUT_REFERENCES = 2
"""The version of marshal's format that writes equal texts alike, whether or not they are the same object."""


class Entry(str):
    """Part of a path: a list entry by its name, which stays the same when entries are added before it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """path: keys of mappings, and entries of lists by name (`Entry`) or by number.

    before, after: values or ABSENT. Secrets in them are masked, whoever shows them; see `messages.masking`.
    """

    path: tuple[str | int, ...]
    before: Any
    after: Any


def changed_fields(before: Any, after: Any) -> Iterator[FieldChange]:
    """The outermost values that differ, with their secrets masked; none for equal data, whatever the order of keys.

    True is not 1, and 1 is not 1.0.
    """
    for change in _changed(before, after, ()):
        secrecy = max(_secrecy(side, change.path) for side in (before, after))
        yield FieldChange(change.path, *masked_pair(change.before, change.after, secrecy))


def is_same(before: Any, after: Any) -> bool:
    """Whether two values are equal, with the same types and the same order of keys. `==` alone would treat True as 1."""
    return before is after or (before == after and (type(before) is str or _written(before) == _written(after)))


def _written(data: Any) -> bytes | str:
    """Plain data with the types of all values and the order of all keys."""
    try:
        return marshal.dumps(data, _WITHOUT_REFERENCES)  # in less than half the time of `repr`
    except ValueError:  # a type that is not Python's own
        return repr(data)


def _secrecy(data: Any, path: tuple[str | int, ...]) -> Secrecy:
    """How secret a changed value is, by the mappings and lists above it."""
    secrecy = Secrecy.UNKNOWN
    for part in path:
        if isinstance(part, Entry):
            data = _entry(data, part)
        else:
            secrecy = secrecy_below(data, part, secrecy)
            data = value_at(data, (part,))
    return secrecy


def _entry(data: Any, name: Entry) -> Any:
    entries = data if isinstance(data, list) else ()
    return next((entry for entry in entries if name in (_name(entry), _full_name(entry))), None)


def _changed(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            old, new = before.get(key, ABSENT), after.get(key, ABSENT)
            if not is_same(old, new):
                yield from _changed(old, new, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _changed_entries(before, after, path)
    elif type(before) is not type(after) or before != after:
        yield FieldChange(path, before, after)


def _changed_entries(before: list[Any], after: list[Any], path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    named = _by_name(before, after)
    if named is None:
        yield from _changed_numbers(before, after, path)
        return
    named_before, named_after = named
    differs = False
    for name in dict.fromkeys((*named_before, *named_after)):
        for change in _changed(named_before.get(name, ABSENT), named_after.get(name, ABSENT), (*path, Entry(name))):
            differs = True
            yield change
    if not differs and list(named_before) != list(named_after):
        yield FieldChange(path, list(named_before), list(named_after))


def _changed_numbers(before: list[Any], after: list[Any], path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    """Entries without names: the common beginning and end of both lists are left out."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) == len(new):
        for number, (old_item, new_item) in enumerate(zip(old, new, strict=True), start):
            yield from _changed(old_item, new_item, (*path, number))
        return
    yield from (FieldChange((*path, number), item, ABSENT) for number, item in enumerate(old, start))
    yield from (FieldChange((*path, number), ABSENT, item) for number, item in enumerate(new, start))


def _alike(before: list[Any], after: list[Any]) -> int:
    """How many entries from the start are the same."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: next(_changed(*pair, ()), None) is None, pairs))


def _by_name(before: list[Any], after: list[Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The entries of both lists by name; None: some have no unique name."""
    # Without the namespace, the same change has the same path for every tenant.
    for name in (_name, _full_name):
        old, new = ({name(entry): entry for entry in entries} for entries in (before, after))
        if None not in (*old, *new) and (len(old), len(new)) == (len(before), len(after)):
            return {str(key): entry for key, entry in old.items()}, {str(key): entry for key, entry in new.items()}
    return None


def _name(entry: Any) -> str | None:
    """The name of a list entry: kind and name for a manifest, otherwise its `name`."""
    if not isinstance(entry, dict):
        return None
    kind, metadata, name = entry.get("kind"), entry.get("metadata"), entry.get("name")
    if isinstance(kind, str) and isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
        return f"{kind} {metadata['name']}"
    return name if isinstance(name, str) else None


def _full_name(entry: Any) -> str | None:
    name = _name(entry)
    metadata = entry.get("metadata") if name else None
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return f"{name} in {namespace}" if namespace else name


def projected(live: Any, wanted: Any) -> Any:
    """The part of live data that wanted data sets; list entries correspond by index."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {key: projected(live[key], part) for key, part in wanted.items() if key in live}
    if isinstance(live, list) and isinstance(wanted, list) and len(live) == len(wanted):
        return [projected(*pair) for pair in zip(live, wanted, strict=True)]
    return live
