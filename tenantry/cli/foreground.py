"""Runs other programs as if the user had started them: with the same streams, and each signal reaches them once."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Foreground:
    """Programs that run while this one waits. interrupted: whether a signal asked them to end."""

    def __init__(self) -> None:
        self.interrupted = False
        self._child: subprocess.Popen[bytes] | None = None
        self._received: list[int] = []
        # A terminal sends ^C to all programs of its foreground group. They must not get it a second time from here: for Pulumi
        # the second one means "terminate at once". Elsewhere they get a group of their own, and every signal from here.
        self._shares_group = _in_foreground()

    def run(self, argv: Sequence[str], variables: Mapping[str, str] | None = None) -> int:
        """Run a program to its end. Returns: its exit code, 128 + N if signal N ended it.

        Args:   variables: its whole environment; None: that of this process.
        Raises: OSError: it cannot be started.
        """
        if self.interrupted:
            return INTERRUPTED
        group = None if self._shares_group else 0
        child = self._child = subprocess.Popen(argv, env=variables, process_group=group)
        for number in self._received:  # while it was started
            self._send(child, number)
        code = child.wait()
        self._child = None
        return code if code >= 0 else 128 - code

    def pass_on(self, number: int, _: FrameType | None) -> None:
        """Handle a signal of this process."""
        self.interrupted = True
        self._received.append(number)
        if child := self._child:
            self._send(child, number)

    def _send(self, child: subprocess.Popen[bytes], number: int) -> None:
        if number == signal.SIGTERM or not self._shares_group:
            with suppress(ProcessLookupError):
                child.send_signal(number)


@contextmanager
def foreground() -> Iterator[Foreground]:
    """Pass signals on to the programs that run within the context, instead of ending this process."""
    programs = Foreground()
    before = {number: signal.signal(number, programs.pass_on) for number in _PASSED_ON}
    try:
        yield programs
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether this process belongs to the foreground group of its terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
