"""Starts, recognises and ends the processes of a sandbox.

They outlive the command that starts them, so a later command knows them only from a file. A pid alone does not identify a
process: its start time and command line have to match as well before it is sent a signal.
"""

import os
import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

CLOCK_TOLERANCE = 2.0
"""Seconds by which the start time of one process may seem to differ: the kernel derives it from a boot time that is adjusted."""

POLL = 0.02
SETTLING = 0.001
KILLED_AFTER = 5.0
"""Seconds the kernel may take to end a process that was killed."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that was started, as the file has it."""

    pid: int
    created: float
    argv: tuple[str, ...]

    def find(self) -> psutil.Process | None:
        """The running process, or None if it has ended, even when something else has its pid now."""
        try:
            process = psutil.Process(self.pid)
            with process.oneshot():
                ended = process.status() == psutil.STATUS_ZOMBIE
                another = abs(process.create_time() - self.created) > CLOCK_TOLERANCE
                if ended or another or tuple(process.cmdline()) != self.argv:
                    return None
        except psutil.Error:
            return None
        return process

    def exit_code(self) -> int | None:
        """Its exit code; None: it runs, or another command started it."""
        try:
            return psutil.Process(self.pid).wait(timeout=0)
        except psutil.Error:
            return None


def start(argv: tuple[str, ...], environment: Mapping[str, str], log: Path) -> Process:
    """Start a process in its own session, so that neither ^C nor the end of this command reaches it."""
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pid = os.posix_spawn(
        argv[0],
        argv,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        # Python ignores this one, and a child would inherit that.
        setsigdef=[signal.SIGPIPE],
    )
    return Process(pid, _settled(pid).create_time(), argv)


def _settled(pid: int) -> psutil.Process:
    """The process once it has its command line: for an instant after the start it has none, and would not be recognised."""
    process = psutil.Process(pid)
    with suppress(psutil.Error):
        while not process.cmdline():
            time.sleep(SETTLING)
    return process


def stop(processes: Iterable[Process], grace: float) -> None:
    """End the processes in parallel; those that still run after `grace` seconds are killed."""
    stubborn = _signal([process for process in processes if process.find()], signal.SIGTERM, grace)
    _signal(stubborn, signal.SIGKILL, KILLED_AFTER)


def _signal(processes: list[Process], number: signal.Signals, seconds: float) -> list[Process]:
    """Send the signal and wait; returns the processes that still run."""
    for process in processes:
        if found := process.find():
            with suppress(psutil.NoSuchProcess):
                found.send_signal(number)
    deadline = time.monotonic() + seconds
    running = processes
    while (running := [process for process in running if process.find()]) and time.monotonic() < deadline:
        time.sleep(POLL)
    for process in processes:
        # Asking for the exit code is what makes an ended child disappear.
        process.exit_code()
    return running
