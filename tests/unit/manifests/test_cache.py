"""The cache on disk: filled once, safe while other runs use it, bounded."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenantry.manifests.cache import Cache, default_root


def test_a_directory_is_filled_once(tmp_path: Path) -> None:
    calls: list[Path] = []

    def fill(into: Path) -> None:
        calls.append(into)
        (into / "file").write_text("content")

    first, again = (Cache(tmp_path).directory("key", fill) for _ in range(2))

    assert first == again
    assert (first / "file").read_text() == "content"
    assert len(calls) == 1


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail(into: Path) -> None:
        (into / "half").write_text("")
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        Cache(tmp_path).directory("key", fail)

    assert list(tmp_path.iterdir()) == []
    assert not Cache(tmp_path).contains("key")


def test_several_runs_may_fill_the_same_key(tmp_path: Path) -> None:
    def fill(into: Path) -> None:
        time.sleep(0.02)
        (into / "file").write_text("content")

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: Cache(tmp_path).directory("key", fill), range(8)))

    assert len(found) == 1
    assert [path.name for path in found.pop().iterdir()] == ["file"]
    assert not list(tmp_path.glob(".filling-*"))


def test_what_was_unused_for_longest_is_removed_and_what_is_in_use_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fill(into: Path) -> None:
        (into / "file").write_bytes(bytes(1000))

    for age, key in enumerate(("new", "old", "older")):
        used = time.time() - 10_000 * age
        os.utime(cache.directory(key, fill), (used, used))
    leftover = tmp_path / ".filling-killed"
    leftover.mkdir()
    os.utime(leftover, (0, 0))

    cache.prune(2500)
    assert [key for key in ("new", "old", "older") if cache.contains(key)] == ["new", "old"]
    assert not leftover.exists()

    cache.prune(0)
    assert [key for key in ("new", "old", "older") if cache.contains(key)] == ["new"]


def test_the_cache_lies_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TENANTRY_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_root() == tmp_path / "tenantry" / "manifests"
    monkeypatch.setenv("TENANTRY_CACHE", str(tmp_path / "own"))
    assert default_root() == tmp_path / "own" / "manifests"
