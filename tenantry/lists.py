"""Lists in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar("_T")
_K = TypeVar("_K")

MOST_NAMES = 8
"""Of a list of names in a sentence; the rest is counted."""


def listed(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """a, b and 3 more"""
    unique = [str(name) for name in dict.fromkeys(names)]
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


def grouped(items: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    """Items with the same key together, groups in the order of the first of each."""
    groups: dict[_K, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
