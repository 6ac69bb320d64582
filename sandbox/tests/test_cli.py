"""`tenantry sandbox`, as far as no cluster has to run."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from tenantry.sandbox import commands
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.state import State

from tenantry.cli.app import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox of two clusters, none of whose processes run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "path_of", lambda name: tmp_path / name)
    layout = Layout(tmp_path / ".sandbox")
    layout.claim()
    State(layout, "dev", ("hub-dev", "edge-1")).save()


@pytest.mark.parametrize("missing", ["psutil", "tenantry.sandbox.layout"])
@pytest.mark.parametrize("command", [["status"], ["down"], ["run", "true"]], ids=lambda command: command[0])
def test_without_its_packages_the_command_says_how_to_install_them(
    command: list[str], missing: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)

    assert run(["sandbox", *command]) == 2
    assert capsys.readouterr().err == (
        f"error: the sandbox is not installed: there is no Python package '{missing}'\n"
        "  fix: run `pip install 'tenantry[sandbox]'`, or `make setup` in a checkout\n"
    )


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


def test_the_programs_of_the_sandbox_are_listed_without_its_packages(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert run(["sandbox", "tools", "--list"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} > {"pulumi", "etcd", "helm-controller"}
    assert run(["sandbox", "tools", "docker"]) == 2
    assert "there is no tool 'docker'" in capsys.readouterr().err


def test_without_a_sandbox_there_is_no_status(tmp_path: Path, capsys: Capture) -> None:
    assert run(["sandbox", "status", "--root", str(tmp_path / "none")]) == 2
    assert "there is no sandbox in" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "cluster"), [([], "hub-dev"), (["--cluster", "edge-1"], "edge-1")])
def test_a_command_gets_the_kubeconfig_of_a_cluster(options: list[str], cluster: str, tmp_path: Path) -> None:
    script = 'echo "$KUBECONFIG" > seen'

    assert run(["sandbox", "run", *options, "--", "sh", "-c", script]) == 0
    assert Path("seen").read_text() == f"{tmp_path}/.sandbox/{cluster}/kubeconfig\n"


def test_the_exit_code_is_that_of_the_command() -> None:
    assert run(["sandbox", "run", "--", "sh", "-c", "exit 7"]) == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--cluster", "edge-9", "--", "true"],
            "the sandbox has no cluster 'edge-9'\n  fix: use one of: hub-dev, edge-1\n",
        ),
        (["--", "kubectll"], "there is no command 'kubectll'\n  fix: name a command that is on PATH\n"),
        (["--", "/"], "'/' cannot be run: Permission denied\n  fix: name a program\n"),
    ],
    ids=["cluster", "command", "directory"],
)
def test_what_cannot_be_run_is_refused_with_a_fix(arguments: list[str], said: str, capsys: Capture) -> None:
    assert run(["sandbox", "run", *arguments]) == 2
    assert capsys.readouterr().err == f"error: {said}"
