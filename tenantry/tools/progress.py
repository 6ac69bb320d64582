"""Shows on stderr what is being done and for how long, so that a long build does not look stuck."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

HEARTBEAT = 30.0
"""Seconds between lines in a log. On a terminal the last line is rewritten every second."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show what is being done until the block ends."""
    done = threading.Event()
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    shown = threading.Thread(target=_rewrite if terminal else _repeat, args=(what, done), daemon=True)
    shown.start()
    try:
        yield
    finally:
        done.set()
        shown.join()


def _repeat(what: str, done: threading.Event) -> None:
    start = time.monotonic()
    say(f"{what} ...")
    while not done.wait(HEARTBEAT):
        say(f"{what} ... {duration(time.monotonic() - start)} so far")


def _rewrite(what: str, done: threading.Event) -> None:
    start, room = time.monotonic(), shutil.get_terminal_size().columns - 1  # a wrapped line cannot be rewritten
    while True:
        sys.stderr.write("\r\x1b[K" + f"{what} ... {time.monotonic() - start:.0f} s"[:room])
        sys.stderr.flush()
        if done.wait(1):
            break
    sys.stderr.write("\r\x1b[K")


def duration(seconds: float) -> str:
    """A time for people: 0.4 s, 42 s, 6 min 35 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
