"""Computes each value once, also if several threads ask for it at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Once(Generic[_K, _V]):
    """The others wait for the thread that came first, and get its result or its exception."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[_K, Future[_V]] = {}

    def get(self, key: _K, compute: Callable[[], _V]) -> _V:
        with self._lock:
            known = self._known.get(key)
            future = known or self._known.setdefault(key, Future())
        if known is None:
            try:
                future.set_result(compute())
            except BaseException as failed:
                future.set_exception(failed)
        return future.result()

    def __len__(self) -> int:
        return len(self._known)
