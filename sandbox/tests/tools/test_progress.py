from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from io import RawIOBase

import pytest
from tenantry.tools import progress
from tenantry.tools.progress import duration, working
from tenantry.tools.store import SOURCES

ON_A_TERMINAL = """
from tenantry.tools import progress
progress.say("[begin]")
with progress.working("[1/1] kwok: building"):
    pass
progress.say("end")
"""


def test_a_log_shows_signs_of_life(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT", 0.001)
    shown = ""

    with working("building"):
        while shown.count("\n") < 2:
            shown += capsys.readouterr().err

    first, second, *_ = shown.splitlines()
    assert (first, second) == ("building ...", "building ... 0.0 s so far")


def test_a_log_is_quiet_afterwards() -> None:
    before = threading.active_count()

    with working("building"):
        pass

    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm"}, "\r\x1b[K[1/1] kwok: building ... 0 s\r\x1b[Kend\r\n"),
        ({"TERM": "dumb"}, "[1/1] kwok: building ...\r\nend"),
    ],
    ids=["ticking", "dumb"],
)
def test_a_terminal_gets_a_line_that_ticks_if_it_can_show_one(environment: dict[str, str], expected: str) -> None:
    shown = _on_a_terminal(environment)

    assert "[begin]\r\n" in shown
    assert expected in shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.44, "0.4 s"), (42, "42 s"), (59.9, "1 min 00 s"), (395, "6 min 35 s"), (1065, "17 min 45 s")],
)
def test_times_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def _on_a_terminal(environment: dict[str, str]) -> str:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        command = [sys.executable, "-c", ON_A_TERMINAL]
        child = subprocess.Popen(command, cwd=SOURCES.parent, env=environment, stderr=theirs)
        os.close(theirs)
        shown = _all_of(screen)
        assert child.wait() == 0
    return shown


def _all_of(screen: RawIOBase) -> str:
    """Reading from a terminal that the other side has closed is an error on Linux, and the end elsewhere."""
    shown = b""
    try:
        while piece := screen.read(4096):
            shown += piece
    except OSError:
        pass
    return shown.decode()
