"""What a terminal shows of work that takes long: what it is, how far it has got, and for how long it has run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from threading import Lock, Timer
from typing import TYPE_CHECKING

from tenantry.messages.progress import Progress, silent
from tenantry.messages.text import printable

if TYPE_CHECKING:
    from rich import progress

PATIENCE = 1.0
"""Seconds before anything is shown: nobody misses it for shorter work."""

_lock = Lock()
_shown: progress.Progress | None = None
"""What is on the screen, if something is."""
_tell: Progress | None = None
"""Takes how far the work has got that goes on; None: none does."""


def shows_progress() -> bool:
    """Whether stderr is a terminal that a person watches. Continuous integration can have a terminal, and keeps its log."""
    if os.environ.get("TERM") == "dumb" or os.environ.get("CI", "").lower() not in ("", "0", "false"):
        return False
    return sys.stderr is not None and bool(sys.stderr.isatty())


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Show long work on a terminal. It gives a function that takes how far the work has got: "3 of 9 environments"."""
    global _tell
    if _tell or not shows_progress():  # one line is enough
        yield _tell or silent
        return
    texts = [printable(what)]

    def tell(detail: str) -> None:
        texts[:] = texts[0], detail
        if display := _shown:
            display.update(display.task_ids[0], description=": ".join(texts))

    _tell, timer = tell, Timer(PATIENCE, _show, (texts,))
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        _end()
        _tell = None


def _show(texts: list[str]) -> None:
    # It takes a while to import, and quick work does not need it.
    from rich.console import Console
    from rich.progress import Progress as Display
    from rich.progress import TextColumn, TimeElapsedColumn

    global _shown
    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    display = Display(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    display.add_task(": ".join(texts))
    with _lock:
        display.start()
        _shown = display


def _end() -> None:
    global _shown
    with _lock:
        if _shown:
            with suppress(OSError):  # the terminal is closed
                _shown.stop()
            _shown = None


@contextmanager
def room() -> Iterator[None]:
    """Remove the line while something is printed. It comes back if the work goes on."""
    with _lock:
        if _shown:
            _shown.stop()
        yield
        if _shown:
            _shown.start()


def terminal_columns() -> int:
    """The width of the terminal, or of the last one that is known."""
    return get_terminal_size().columns
