from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import time

import pytest

from tools.progress import Lines, duration, gigabytes
from tools.store import SOURCES

ON_A_TERMINAL = """
from tools import progress
display = progress.display()
display.say("[begin]")
with display.working("[1/1] kwok: building"):
    pass
display.say("end")
"""


def test_a_log_shows_signs_of_life() -> None:
    log = io.StringIO()

    with Lines(log, heartbeat=0.01).working("building"):
        time.sleep(0.05)

    first, second, *_ = log.getvalue().splitlines()
    assert (first, second) == ("building ...", "building ... 0.0 s so far")


def test_a_log_is_quiet_afterwards() -> None:
    log = io.StringIO()
    with Lines(log, heartbeat=0.01).working("building"):
        pass

    time.sleep(0.03)

    assert log.getvalue() == "building ...\n"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm", "NO_COLOR": "1"}, "[1/1] kwok: building 0:00:00"),
        ({"TERM": "dumb"}, "[1/1] kwok: building ...\r\nend"),
    ],
    ids=["ticking", "dumb"],
)
def test_a_terminal_gets_a_line_that_ticks_if_it_can_show_one(environment: dict[str, str], expected: str) -> None:
    shown = _on_a_terminal(environment)

    assert "[begin]\r\n" in shown
    assert expected in shown


def test_no_colours_where_none_are_wanted() -> None:
    assert "\x1b[3" not in _on_a_terminal({"TERM": "xterm", "NO_COLOR": "1"})


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.44, "0.4 s"), (42, "42 s"), (59.9, "1 min 00 s"), (395, "6 min 35 s"), (1065, "17 min 45 s")],
)
def test_times_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_sizes_are_for_people() -> None:
    assert gigabytes(11_484_100_000) == "11.5 GB"


def _on_a_terminal(environment: dict[str, str]) -> str:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        command = [sys.executable, "-c", ON_A_TERMINAL]
        child = subprocess.Popen(command, cwd=SOURCES.parent, env=environment, stderr=theirs)
        os.close(theirs)
        shown = _all_of(screen)
        assert child.wait() == 0
    return shown


def _all_of(screen: io.RawIOBase) -> str:
    """Reading from a terminal that the other side has closed is an error on Linux, and the end elsewhere."""
    shown = b""
    try:
        while piece := screen.read(4096):
            shown += piece
    except OSError:
        pass
    return shown.decode()
