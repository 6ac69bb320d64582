"""Locks of a state in files, as Pulumi writes them."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from tenantry.stacks.backend import Holder, Lock, locks_of

SINCE = "2026-11-22T18:26:18.123456789+01:00"


def gone() -> int:
    """The id of a process that has ended and was waited for."""
    process = os.posix_spawn("/bin/true", ["true"], os.environ)
    os.waitpid(process, 0)
    return process


def locked(folder: Path, **said: Any) -> Path:
    """A lock as Pulumi writes it, of a process of this host that is gone."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = {"pid": gone(), "username": "ci", "hostname": socket.gethostname(), "timestamp": SINCE}
    file = folder / f"{len(list(folder.iterdir()))}.json"
    file.write_text(json.dumps({**taken, **said}))
    return file


def test_locks_are_found_in_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a b" / ".pulumi" / "locks" / "organization" / "fleet" / "dev"
    file = locked(folder, pid=7, hostname="ci-1")
    backend = f"{(tmp_path / 'a b').as_uri()}?metadata=skip"
    expected = [Lock(file, "ci", "ci-1", 7, "2026-11-22T17:26:18Z")]
    assert locks_of(backend, "fleet", "dev") == expected
    assert str(expected[0]) == "ci@ci-1, process 7, since 2026-11-22T17:26:18Z"
    assert [locks_of(each, "fleet", "dev") for each in ("s3://b", "", "file://host/x", "file://")] == [[], [], [], []]
    assert locks_of(backend, "fleet", "prod") == []
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locks_of("file://~/a b", "fleet", "dev") == expected
    assert locks_of("file://~", "fleet", "dev") == []


@pytest.mark.parametrize(
    ("said", "holder"),
    [
        ({}, Holder.GONE),
        ({"pid": os.getpid()}, Holder.RUNS),
        ({"pid": 1}, Holder.RUNS),
        ({"pid": 10**30}, Holder.RUNS),
        ({"hostname": "ci-1"}, Holder.ELSEWHERE),
        ({"pid": 0}, Holder.UNKNOWN),
        ({"pid": -1}, Holder.UNKNOWN),
        ({"pid": "x"}, Holder.UNKNOWN),
        ({"timestamp": "yesterday"}, Holder.UNKNOWN),
    ],
)
def test_a_lock_says_whether_its_process_still_runs(tmp_path: Path, said: dict[str, Any], holder: Holder) -> None:
    locked(tmp_path / ".pulumi/locks/organization/fleet/dev", **said)
    (lock,) = locks_of(tmp_path.as_uri(), "fleet", "dev")
    assert lock.holder is holder


def test_a_file_that_is_no_lock_tells_nothing(tmp_path: Path) -> None:
    folder = tmp_path / ".pulumi/locks/organization/fleet/dev"
    file = locked(folder)
    for text in ("", "[]", "{"):
        file.write_text(text)
        assert locks_of(tmp_path.as_uri(), "fleet", "dev") == [Lock(file)]
    assert str(Lock(file)) == "an unknown process"
