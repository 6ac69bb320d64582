import dataclasses
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tenantry_sandbox import process
from tenantry_sandbox.process import Process

SLEEP = ("/bin/sleep", "60")
DEAF = ("/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do /bin/sleep 0.05; done")


@pytest.fixture
def sleeping(tmp_path: Path) -> Iterator[Process]:
    started = process.start(SLEEP, {}, tmp_path / "sleep.log")
    yield started
    process.stop([started], 5)


def test_a_started_process_is_found_again_from_what_was_written_down(sleeping: Process) -> None:
    known = Process(sleeping.pid, sleeping.created, sleeping.argv)

    found = known.find()

    assert found is not None
    assert found.pid == sleeping.pid


def test_it_is_found_again_after_somebody_set_the_clock(sleeping: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    boot, created = psutil.boot_time(), psutil.Process.create_time
    monkeypatch.setattr(psutil, "boot_time", lambda: boot + 60)
    monkeypatch.setattr(psutil.Process, "create_time", lambda running: created(running) + 60)
    assert sleeping.find() is not None


def test_it_has_a_session_of_its_own(sleeping: Process) -> None:
    assert os.getsid(sleeping.pid) == sleeping.pid


@pytest.mark.parametrize(
    "changes",
    [{"created": 1.0}, {"argv": ("/bin/sleep", "61")}],
    ids=["started-at-another-time", "another-command"],
)
def test_a_process_that_only_has_the_same_pid_is_neither_found_nor_ended(
    sleeping: Process, changes: dict[str, object]
) -> None:
    stranger = dataclasses.replace(sleeping, **changes)  # type: ignore[arg-type]

    process.stop([stranger], 1)

    assert stranger.find() is None
    assert sleeping.find() is not None


def test_a_stopped_process_is_gone(sleeping: Process) -> None:
    process.stop([sleeping], 5)

    assert sleeping.find() is None


def test_a_process_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "deaf.log"
    deaf = process.start(DEAF, {}, log)
    while "deaf" not in log.read_text():
        time.sleep(0.01)

    process.stop([deaf], 0.1)

    assert deaf.find() is None


def test_output_and_errors_are_appended_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "part.log"
    for _ in range(2):
        started = process.start(("/bin/sh", "-c", "echo out; echo err >&2"), {}, log)
        while started.find():
            time.sleep(0.01)

    assert log.read_text() == "out\nerr\nout\nerr\n"
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_process_that_ended_tells_with_what(tmp_path: Path) -> None:
    started = process.start(("/bin/sh", "-c", "exit 7"), {}, tmp_path / "log")
    while started.find():
        time.sleep(0.01)

    assert started.exit_code() == 7


def test_nothing_but_what_is_given_reaches_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "do not pass on")
    log = tmp_path / "log"
    started = process.start(("/usr/bin/env",), {"KUBECONFIG": "file"}, log)
    while started.find():
        time.sleep(0.01)

    assert log.read_text() == "KUBECONFIG=file\n"
