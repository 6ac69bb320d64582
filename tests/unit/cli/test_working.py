"""A terminal shows long work and how far it has got. Nothing else does, and the output stays as it is.

No test depends on how fast the machine is: the work lasts until the line that is expected is on the screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli import output, validate
from tenantry.cli.output import data, say, working
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.progress import counting, steps
from tests.terminal import in_terminal, plain, tenantry_in_terminal
from tests.unit.texts import rocky

SHIPPED = output.PATIENCE
_LONGEST = 20.0
"""Seconds until a test gives up."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("CI", raising=False)


def until_shown(text: str) -> None:
    end = time.monotonic() + _LONGEST
    while not (output._shown and text in output._shown.tasks[0].description):
        assert time.monotonic() < end, f"'{text}' was never shown"
        time.sleep(0.01)


def work() -> int:
    with working("planning tenants.yaml"):
        until_shown("planning")
    data("done")
    return 0


def test_a_terminal_shows_long_work_and_forgets_it_when_it_is_done() -> None:
    code, screen = in_terminal(work, 80)
    assert (code, "planning tenants.yaml 0:00:0" in plain(screen)) == (0, True), screen
    assert screen.endswith("\x1b[2Kdone\n")


def test_it_waits_a_second_before_it_shows_anything() -> None:
    assert SHIPPED == 1.0


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", 3600)

    def quick() -> int:
        with working("planning tenants.yaml"):
            pass
        data("done")
        return 0

    assert in_terminal(quick, 80) == (0, "done\n")


def test_it_says_how_far_the_work_has_got() -> None:
    def stepwise() -> int:
        with working("planning tenants.yaml") as tell:
            for _ in steps(["dev", "test", "prod"], "environments", tell):
                until_shown("1 of 3") if _ == "test" else None
            counting(lambda _: until_shown("1,000 of 1,001"), 1_001, "clusters", tell)
            tell("1,000 of 1,001 clusters")
            until_shown("1,000 of 1,001 clusters")
        return 0

    code, screen = in_terminal(stepwise, 80)
    assert (code, "planning tenants.yaml: 1,000 of 1,001 clusters" in screen) == (0, True), screen


def test_output_meanwhile_is_not_mixed_with_it() -> None:
    def talkative() -> int:
        with working("planning"):
            until_shown("planning")
            data("a result")
            until_shown("planning")
            say("a message")
            until_shown("planning")
        return 0

    screen = in_terminal(talkative, 80)[1]
    assert "\x1b[2Ka result\n" in screen
    assert "\x1b[2Ka message\n" in screen


def test_work_inside_work_shares_the_line() -> None:
    def nested() -> int:
        with working("outer"):
            with working("inner") as tell:
                tell("half")
                until_shown("outer: half")
            until_shown("outer")
        return 0

    code, screen = in_terminal(nested, 80)
    assert (code, "inner" in screen) == (0, False)


@pytest.mark.parametrize("raised", [Refused("no"), KeyboardInterrupt(), ZeroDivisionError()])
def test_a_failure_clears_the_line(raised: BaseException) -> None:
    def failing() -> int:
        try:
            with working("planning"):
                until_shown("planning")
                raise raised
        except BaseException:
            say("failed")
        return 0

    assert in_terminal(failing, 80)[1].endswith("\x1b[2Kfailed\n")


def test_a_name_with_control_characters_stays_text() -> None:
    def hostile() -> int:
        with working("planning \x1b[31m\nx"):
            until_shown("planning")
        return 0

    assert "planning \\x1b[31m\\nx" in in_terminal(hostile, 80)[1]


# --- where nothing is shown -----------------------------------------------------------------------------------------


def silent_work() -> int:
    with working("planning tenants.yaml"):
        time.sleep(0.1)  # a line would be here after a tenth of it
    data("done")
    return 0


@pytest.mark.parametrize(("variable", "value"), [("TERM", "dumb"), ("CI", "true"), ("CI", "1")])
def test_a_dumb_terminal_and_a_log_show_nothing(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    assert in_terminal(silent_work, 80) == (0, "done\n")


@pytest.mark.parametrize(("variable", "value"), [("CI", ""), ("CI", "false"), ("NO_COLOR", "1")])
def test_other_terminals_do(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    code, screen = in_terminal(work, 80)
    assert (code, "planning tenants.yaml" in screen) == (0, True)


@pytest.mark.parametrize("forced", ["", "1"])
def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, forced: str) -> None:
    monkeypatch.setenv("FORCE_COLOR", forced)
    silent_work()
    assert capsys.readouterr() == ("done\n", "")


# --- how far --------------------------------------------------------------------------------------------------------


def told(count: Callable[[Callable[[str], None]], object]) -> list[str]:
    found: list[str] = []
    count(found.append)
    return found


def test_steps_tell_what_is_done_and_a_single_one_tells_nothing() -> None:
    assert told(lambda tell: list(steps("abc", "files", tell))) == ["0 of 3 files", "1 of 3 files", "2 of 3 files"]
    assert told(lambda tell: list(steps("a", "files", tell))) == []


def test_calls_are_counted_also_those_that_fail() -> None:
    def twice(tell: Callable[[str], None]) -> None:
        counted = counting(lambda each: 1 // each, 2, "clusters", tell)
        assert counted(1) == 1
        with pytest.raises(ZeroDivisionError):
            counted(0)

    assert told(twice) == ["0 of 2 clusters", "1 of 2 clusters", "2 of 2 clusters"]


# --- a whole command ------------------------------------------------------------------------------------------------


def test_a_command_shows_what_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*given: Any) -> Any:
        until_shown("checking")
        return load_fleet(*given)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(validate, "load_fleet", slow)
    Path("tenants.yaml").write_text(rocky("web: {kustomize: {source: manifests}}"))
    code, screen = tenantry_in_terminal("validate", columns=80)
    assert (code, "checking tenants.yaml" in screen) == (0, True)
    assert "\x1b[2Ktenants.yaml is valid: 2 clusters, 1 tenant; objects: dev " in screen
