"""The line on a terminal that shows what takes long, how far it has got, and for how long it has run."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from shutil import get_terminal_size
from typing import ClassVar

from tenantry.messages.progress import Progress, silent
from tenantry.messages.text import printable

PATIENCE = 1.0
"""Seconds before the line is shown: nobody misses it for shorter work."""
_TICK = 0.25
"""Seconds between two looks at whether the line says something new."""


def shows_progress() -> bool:
    """Whether stderr is a terminal that a person watches. Continuous integration can have a terminal, and keeps its log."""
    if os.environ.get("TERM") == "dumb" or os.environ.get("CI", "").lower() not in ("", "0", "false"):
        return False
    return sys.stderr is not None and bool(sys.stderr.isatty())


class _Line:
    """The line below the output. It is redrawn only if it says something new, and never cleared before: it would flicker."""

    current: ClassVar[_Line | None] = None
    """The line on the screen, if there is one."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._detail = ""
        self._started = time.monotonic()
        self._shown = ""
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def tell(self, detail: str) -> None:
        """Say how far the work has got."""
        self._detail = detail

    def start(self) -> None:
        _Line.current = self
        self._thread.start()

    def end(self) -> None:
        self._done.set()
        self._thread.join()
        with self.removed():
            _Line.current = None

    @contextmanager
    def removed(self) -> Iterator[None]:
        """Keep the line off the screen, so that something else can be printed in its place."""
        with self._lock:
            if self._shown:
                self._write("\r\x1b[K")
                self._shown = ""
            yield

    def _run(self) -> None:
        pause = PATIENCE
        while not self._done.wait(pause):
            pause = _TICK
            self._draw()

    def _draw(self) -> None:
        seconds = f" ... {time.monotonic() - self._started:.0f} s"
        text = f"{self._what}: {self._detail}" if self._detail else self._what
        # One column is left free: a terminal would wrap a line that fills all of them.
        line = text[: max(0, terminal_columns() - len(seconds) - 1)] + seconds
        with self._lock:
            if line != self._shown and not self._done.is_set():
                self._write(f"\r{line}\x1b[K")
                self._shown = line

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal is closed
            sys.stderr.write(text)
            sys.stderr.flush()


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Show long work on a terminal. It gives a function that takes how far the work has got: "3 of 9 environments"."""
    if not shows_progress():
        yield silent
    elif _Line.current:  # one line is enough
        yield _Line.current.tell
    else:
        line = _Line(printable(what))
        line.start()
        try:
            yield line.tell
        finally:
            line.end()


@contextmanager
def room() -> Iterator[None]:
    """Remove the line while something is printed. It comes back if the work goes on."""
    with _Line.current.removed() if _Line.current else nullcontext():
        yield


def terminal_columns() -> int:
    """The width of the terminal, or of the last one that is known."""
    return get_terminal_size().columns
