"""Runs programs and says how long they took, how much of the processor they used, and how much memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.tables import Row

TENANTRY = str(Path(sys.executable).with_name("tenantry"))
_Name = TypeVar("_Name")


@dataclass(frozen=True, slots=True)
class Used:
    """What one run took. seconds: wall clock; processor: seconds, with all child processes; memory: peak in MB of the largest."""

    seconds: float
    processor: float
    memory: int


class Failed(Exception):
    """A measured program ended with an error, so its figures mean nothing."""


def run(
    command: Sequence[str], directory: Path, variables: Mapping[str, str] | None = None, fine: Iterable[int] = (0,)
) -> Used:
    """Run a program to its end. Its output is dropped, unless it fails.

    Args:   variables: added to the environment. fine: the exit codes that are no failure.
    Raises: Failed: with the last lines that the program printed.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=directory,
        env={**environment, **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in tuple(fine):
        tail = "\n".join(output.decode(errors="replace").splitlines()[-20:])
        raise Failed(f"{' '.join(command)} ended with {process.returncode}:\n{tail}")
    return Used(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def in_turns(tasks: Mapping[_Name, Callable[[], Used]], runs: int) -> dict[_Name, Used]:
    """Each task's medians, after one run that compiles and fills caches. The tasks take turns."""
    times: dict[_Name, list[Used]] = {name: [] for name in tasks}
    for turn in range(runs + 1):
        for name, task in tasks.items():
            used = task()
            if turn:
                times[name].append(used)
    return {name: _median(each) for name, each in times.items()}


@contextmanager
def timed(step: str, record: Callable[[str, float], None]) -> Iterator[None]:
    """Pass the duration of the body, in seconds, to `record`."""
    start = time.perf_counter()
    yield
    record(step, time.perf_counter() - start)


def rows(used: Mapping[str, Used]) -> tuple[Row, ...]:
    return tuple(Row(name, each.seconds, each.processor, each.memory) for name, each in used.items())


def _median(runs: Sequence[Used]) -> Used:
    return Used(
        median(each.seconds for each in runs),
        median(each.processor for each in runs),
        round(median(each.memory for each in runs)),
    )
