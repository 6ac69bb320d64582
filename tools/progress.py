"""Says on stderr what goes on, so that neither a person nor a CI system takes a long build for a hung one.

A terminal gets a line that ticks; anything else plain lines, one of them every half minute.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

HEARTBEAT = 30.0
"""Seconds between signs of life where there is no terminal."""


class Display(Protocol):
    """Where messages go."""

    def say(self, text: str) -> None: ...

    def working(self, what: str) -> AbstractContextManager[None]:
        """Show what is being done, and for how long already, until left."""
        ...


class Lines:
    """A log: plain lines, and a heartbeat."""

    def __init__(self, stream: TextIO, heartbeat: float = HEARTBEAT) -> None:
        self._stream = stream
        self._heartbeat = heartbeat

    def say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        self.say(f"{what} ...")
        done = threading.Event()
        beat = threading.Thread(target=self._beat, args=(what, done), daemon=True)
        beat.start()
        try:
            yield
        finally:
            done.set()
            beat.join()

    def _beat(self, what: str, done: threading.Event) -> None:
        start = time.monotonic()
        while not done.wait(self._heartbeat):
            self.say(f"{what} ... {duration(time.monotonic() - start)} so far")


class Terminal:
    """A terminal: the current step ticks in the last line."""

    def __init__(self) -> None:
        # Imported here, as finding out that there is nothing to build must not cost loading it.
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def say(self, text: str) -> None:
        self._console.print(text)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), text, TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as progress:
            progress.add_task(what, total=None)
            yield


def display() -> Display:
    """The display that suits stderr."""
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return Terminal() if terminal else Lines(sys.stderr)


def duration(seconds: float) -> str:
    """A time for people: 0.4 s, 42 s, 6 min 35 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def gigabytes(count: int) -> str:
    """A size for people, in the unit that disks are sold in."""
    return f"{count / 1e9:.1f} GB"
