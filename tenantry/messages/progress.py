"""How long work says how far it has got. It takes a function that is told; the command line shows what it hears."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")
_U = TypeVar("_U")

Tell: TypeAlias = Callable[[str], None]
"""Takes how far the work has got, in a few words: "3 of 9 environments"."""


def silent(_: str) -> None:
    """For callers that show no progress."""


def steps(items: Collection[_T], noun: str, tell: Tell) -> Iterator[_T]:
    """The items, telling before each how many are done. noun: in the plural."""
    for done, item in enumerate(items):
        _tell(done, len(items), noun, tell)
        yield item


def counting(call: Callable[[_T], _U], total: int, noun: str, tell: Tell) -> Callable[[_T], _U]:
    """The same function, which tells after each call how many are done. The calls can be concurrent."""
    lock, done = threading.Lock(), 0

    def counted(item: _T) -> _U:
        nonlocal done
        try:
            return call(item)
        finally:
            with lock:
                done += 1
                _tell(done, total, noun, tell)

    _tell(0, total, noun, tell)
    return counted


def _tell(done: int, total: int, noun: str, tell: Tell) -> None:
    if total > 1:
        tell(f"{done:,} of {total:,} {noun}")
