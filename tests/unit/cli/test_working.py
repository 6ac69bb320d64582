"""A terminal names work that takes long. Nothing else does, and the output stays as it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli import output, validate
from tenantry.cli.output import data, working
from tenantry.load import load_fleet
from tests.table import table
from tests.terminal import in_terminal, tenantry_in_terminal
from tests.unit.texts import rocky

SHIPPED = output.PATIENCE


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.01)
    monkeypatch.delenv("CI", raising=False)


def work(what: str = "planning tenants.yaml", seconds: float = 0.3) -> Callable[[], int]:
    def lasting() -> int:
        with working(what):
            time.sleep(seconds)
        data("done")
        return 0

    return lasting


def test_a_terminal_names_what_takes_longer_than_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHIPPED == 1.0
    assert in_terminal(work(), 80) == (0, "planning tenants.yaml ...\ndone\n")
    monkeypatch.setattr(output, "PATIENCE", 3600)
    assert in_terminal(work(seconds=0), 80) == (0, "done\n")


def test_a_name_with_control_characters_stays_text() -> None:
    assert in_terminal(work("planning \x1b[31m\nx"), 80) == (0, "planning \\x1b[31m\\nx ...\ndone\n")


@table("ci, shown", [("true", "done\n"), ("1", "done\n"), ("false", "planning tenants.yaml ...\ndone\n")])
def test_the_log_of_a_pipeline_shows_nothing(ci: str, shown: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CI", ci)
        assert in_terminal(work(), 80) == (0, shown)


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    work()()
    assert capsys.readouterr() == ("done\n", "")


def test_a_command_names_what_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*given: Any) -> Any:
        time.sleep(0.3)
        return load_fleet(*given)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(validate, "load_fleet", slow)
    Path("tenants.yaml").write_text(rocky("web: {kustomize: {source: manifests}}"))
    code, screen = tenantry_in_terminal("validate", columns=80)
    assert (code, screen.splitlines()[0]) == (0, "checking tenants.yaml ...")
