"""Long work says so on a terminal, and nowhere else."""

from __future__ import annotations

import time

import pytest

from tenantry.cli import output
from tenantry.cli.output import data, working
from tests.terminal import in_terminal


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_PATIENCE", 0.05)
    monkeypatch.setenv("TERM", "xterm-256color")


def work(seconds: float) -> int:
    with working("planning tenants.yaml"):
        time.sleep(seconds)
    data("done")
    return 0


def test_a_terminal_shows_long_work_and_forgets_it_when_it_is_done() -> None:
    assert in_terminal(lambda: work(0.8), 80) == (0, "\rplanning tenants.yaml ... 0 s\x1b[K\r\x1b[Kdone\n")


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_PATIENCE", 30)
    assert in_terminal(lambda: work(0), 80) == (0, "done\n")


def test_it_fits_a_narrow_terminal() -> None:
    assert in_terminal(lambda: work(0.8), 20)[1].startswith("\rplanning ... 0 s\x1b[K")


def test_a_dumb_terminal_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert in_terminal(lambda: work(0.8), 80) == (0, "done\n")


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    work(0.2)
    assert capsys.readouterr() == ("done\n", "")
