"""Commands that other distributions add, and what is said without a distribution or package."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import click
import pytest

from tenantry.cli import app
from tenantry.cli.app import run

Capture = pytest.CaptureFixture[str]


@click.command("greet")
def greet() -> int:
    """Say hello."""
    click.echo("hello")
    return 7


def install(monkeypatch: pytest.MonkeyPatch, *plugins: EntryPoint) -> None:
    def entry_points(**wanted: Any) -> EntryPoints:
        return EntryPoints(plugins).select(**wanted)

    monkeypatch.setattr(app, "entry_points", entry_points)


def test_a_plugin_s_command_is_one_of_tenantry_s(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, EntryPoint("greet", f"{__name__}:greet", app.PLUGINS))
    assert run(["greet"]) == 7
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("hello\n")
    assert "Plugins:\n  greet" in out


def test_without_the_sandbox_its_command_says_how_to_install_it(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    for command in (["sandbox"], ["sandbox", "status"], ["sandbox", "up", "--output", "json"]):
        assert run(command) == 2
        assert capsys.readouterr().err == (
            "error: the sandbox is not installed\n"
            "  fix: run `pip install tenantry-sandbox`, or `make setup` in a checkout\n"
        )
    assert run(["--help"]) == 0
    assert "Plugins" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "missing", "lead"),
    [
        (
            "components",
            "pulumi",
            "the Pulumi program needs the Python package 'pulumi': run `pip install 'tenantry[pulumi]'`",
        ),
        (
            "components",
            "pulumi_kubernetes",
            "the Pulumi program needs the Python package 'pulumi_kubernetes': run `pip install 'tenantry[pulumi]'`",
        ),
    ],
)
def test_without_its_packages_a_program_says_how_to_install_them(
    module: str, missing: str, lead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ModuleNotFoundError) as refused:
        importlib.import_module(module)
    assert str(refused.value) == f"{lead}, or `make setup` in a checkout"
