"""Progress of work that takes long: it calls a function with how far it is; the command line prints that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")
_U = TypeVar("_U")

Progress: TypeAlias = Callable[[str], None]
"""Takes how far the work has got, in a few words: "3 of 9 environments"."""


def silent(_: str) -> None:
    """For callers that show no progress."""


def steps(items: Collection[_T], noun: str, report: Progress) -> Iterator[_T]:
    """The items, reporting before each how many are done. noun: in the plural."""
    for done, item in enumerate(items):
        _report(done, len(items), noun, report)
        yield item


def counting(call: Callable[[_T], _U], total: int, noun: str, report: Progress) -> Callable[[_T], _U]:
    """The same function, which reports after each call how many are done. The calls can be concurrent."""
    lock, done = threading.Lock(), 0

    def counted(item: _T) -> _U:
        nonlocal done
        try:
            return call(item)
        finally:
            with lock:
                done += 1
                _report(done, total, noun, report)

    _report(0, total, noun, report)
    return counted


def _report(done: int, total: int, noun: str, report: Progress) -> None:
    if total > 1:
        report(f"{done:,} of {total:,} {noun}")
