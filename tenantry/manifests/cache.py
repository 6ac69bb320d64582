"""What is fetched or computed once: directories on disk that are filled once and then only read, and values that threads share.

    <root>/<first letters>/<hash of the key>/   complete: it was renamed to this name once it was filled
    <root>/.filling-*/                          being filled, or left over from a run that was killed

The directories are below the user's cache directory. Several runs may use them at the same time: renaming is atomic, and a run
removes only what nobody used for a while.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, TypeVar

MOST = 2 * 2**30
"""Bytes on disk. The directories that were unused for longest are removed."""
_IN_USE = 3600.0
"""Seconds for which a directory stays after its last use, whatever its size: another run may be reading it."""
_FILLING = ".filling-"


def default_root() -> Path:
    """`$TENANTRY_CACHE`, or `tenantry` in the XDG directory for caches; there `manifests`."""
    own = os.environ.get("TENANTRY_CACHE")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(own).absolute() if own else caches / "tenantry") / "manifests"


class Cache:
    """`directory` may be called from several threads and processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True, mode=0o700)

    def directory(self, key: str, fill: Callable[[Path], None]) -> Path:
        """The directory of a key, which names immutable content. `fill` writes it, if the cache does not contain it."""
        place = self._place(key)
        if place.is_dir():
            os.utime(place)
            return place
        draft = Path(tempfile.mkdtemp(prefix=_FILLING, dir=self.root))
        try:
            fill(draft)
            place.parent.mkdir(exist_ok=True)
            try:
                draft.rename(place)
            except OSError:
                if not place.is_dir():  # else another run was faster
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return place

    def contains(self, key: str) -> bool:
        return self._place(key).is_dir()

    def prune(self, most: int = MOST) -> None:
        """Remove what was unused for longest until the rest is small enough, and what killed runs left."""
        now = time.time()
        for leftover in self.root.glob(f"{_FILLING}*"):
            if now - _used(leftover) > _IN_USE:
                shutil.rmtree(leftover, ignore_errors=True)
        kept = sorted(self.root.glob("??/*"), key=_used, reverse=True)
        total = 0
        for each in kept:
            total += _size(each)
            if total > most and now - _used(each) > _IN_USE:
                shutil.rmtree(each, ignore_errors=True)

    def _place(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.root / name[:2] / name


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another run has removed it
        return 0.0


def _size(directory: Path) -> int:
    total = 0
    for parent, _, files in os.walk(directory):
        for name in files:
            try:
                total += (Path(parent) / name).lstat().st_size
            except FileNotFoundError:
                continue
    return total


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
