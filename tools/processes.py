"""Runs a program that may take long, and leaves none behind when we are told to stop."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

GRACE = 5.0
"""Seconds that a program gets to tidy up."""

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)


def run_logged(command: Sequence[str | Path], directory: Path, environment: Mapping[str, str], log: Path) -> int:
    """The exit code of a program whose output is appended to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output, _child(command, directory, environment, output.fileno()) as child:
        return child.wait()


@contextmanager
def _child(
    command: Sequence[str | Path], directory: Path, environment: Mapping[str, str], output: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Go runs compilers of its own, so it gets a process group, which can be ended as one."""
    child = None
    try:
        with _uninterrupted():
            child = subprocess.Popen(
                command,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        yield child
    finally:
        if child:
            _end(child)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold ^C and SIGTERM back: a child that runs, but is not known yet, could not be ended. For the main thread only.

    Blocking the signals would not do, as the child would inherit that.
    """
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in INTERRUPTIONS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for each in came:
        signal.raise_signal(each)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    os.killpg(child.pid, signal.SIGTERM)
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def heed_termination() -> None:
    """Let SIGTERM (a cancelled CI job, a timeout) unwind the stack like ^C does, so that the same clean-up runs."""
    signal.signal(signal.SIGTERM, _unwind)


def _unwind(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
