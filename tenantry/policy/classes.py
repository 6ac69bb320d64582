"""What the classes of a tenant say, merged below its entry in the main file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.resource import mapping

_PARTS = (
    "sources",
    "credentials",
    "configs",
    "apps",
    "alerts",
    "receivers",
    "namespaces",
    "clusterRoles",
    "clusterObjects",
)
"""Keys of a tenant whose entries `null` removes. Elsewhere it also removes what `defaults` say, so it stays."""


def names_of(entry: Mapping[str, Any], key: str = "class") -> tuple[str, ...]:
    """The classes, or groups, that an entry names."""
    named = entry.get(key)
    return tuple(map(str, named)) if isinstance(named, list) else (str(named),) if named else ()


def with_classes(classes: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry above what its classes say: parents first, then in the order in which it names them."""
    whole: dict[str, Any] = {}
    for name in above(classes, entry, "class"):
        whole = _over(whole, mapping(classes.get(name)), ())
    return _over(whole, entry, ())


def above(declared: Mapping[str, Any], entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The classes or groups that an entry names and those that these name, parents first, each once."""

    def parents_first(name: str, below: tuple[str, ...]) -> Iterator[str]:
        if name not in below:
            for parent in names_of(mapping(declared.get(name)), key):
                yield from parents_first(parent, (*below, name))
            yield name

    return tuple(dict.fromkeys(each for first in names_of(entry, key) for each in parents_first(first, ())))


def _over(low: Mapping[str, Any], high: Mapping[str, Any], at: tuple[str, ...]) -> dict[str, Any]:
    whole = dict(low)
    for key, value in high.items():
        path, there = (*at, str(key)), whole.get(key)
        if value is None and path[0] in _PARTS and len(path) == 2:
            whole.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(there, Mapping) and not _replaces(path):
            whole[key] = _over(there, value, path)
        elif path[-2:] == ("overrides", "where") and isinstance(there, list) and isinstance(value, list):
            whole[key] = [*there, *value]
        else:
            whole[key] = value
    return whole


def _replaces(path: tuple[str, ...]) -> bool:
    """Whether a mapping takes the place of another: a selector, and what says a version."""
    selects = path == ("clusters",) or path == ("grants", "clusters")
    of_app, of_source = path[0] == "apps" and len(path) == 3, path[0] == "sources" and len(path) > 3
    return selects or (of_app and path[-1] == "clusters") or (of_source and path[-1] == "ref")
