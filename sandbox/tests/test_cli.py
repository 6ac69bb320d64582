"""`tenantry sandbox`, as far as no cluster has to run."""

from __future__ import annotations

from pathlib import Path

import pytest
from parts import sleeper, supervisor

from tenantry.cli.app import run
from tenantry_sandbox import process, programs
from tenantry_sandbox.layout import Layout
from tenantry_sandbox.supervisor import State

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox of two clusters, none of whose processes run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(programs, "path_of", lambda name: tmp_path / name)
    layout = Layout(tmp_path / ".sandbox")
    layout.claim()
    State(environment="dev", clusters=("hub-dev", "edge-1")).save(layout)


def test_a_program_that_is_not_one_of_the_sandbox_s_is_refused(capsys: Capture) -> None:
    assert run(["sandbox", "tools", "docker"]) == 2
    assert "error: there is no tool 'docker'\n  fix: use one of: pulumi" in capsys.readouterr().err


def test_it_is_a_plugin_of_tenantry(capsys: Capture) -> None:
    assert run(["--help"]) == 0
    assert (
        "Plugins:\n  sandbox     Runs the clusters of a Tenantry environment on one machine.\n"
        in capsys.readouterr().out
    )


def test_parts_are_shown_by_cluster_with_what_they_use(capsys: Capture) -> None:
    running = supervisor(Path(".sandbox"))
    parts = (sleeper(), sleeper("notification-controller", "hub-dev"), sleeper("etcd", "sandbox"))
    running.ensure(*parts)
    process.stop([running.state.running["edge-1/kwok"].process], 5)
    try:
        assert run(["sandbox", "status"]) == 1
    finally:
        running.take_back()
    out, err = capsys.readouterr()
    rows = [line.split()[:3] for line in out.splitlines()]
    assert rows == [
        ["CLUSTER", "PART", "STATUS"],
        ["sandbox", "etcd", "running"],
        ["hub-dev", "notification-controller", "running"],
        ["edge-1", "kwok", "dead"],
    ]
    assert err == "webhooks of receivers: http://127.0.0.1:20001\n"


@pytest.mark.parametrize("arguments", [[], ["crash", "--repair"]])
def test_what_is_broken_is_either_named_or_repaired(arguments: list[str], capsys: Capture) -> None:
    Path("tenants.yaml").touch()
    assert run(["sandbox", "break", "rocky/web", *arguments]) == 2
    assert "name a FAILURE, or --repair" in capsys.readouterr().err


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
        (
            ["--", "kubectll"],
            "'kubectll' cannot be run: No such file or directory\n  fix: name a program that is on PATH\n",
        ),
        (["--", "/"], "'/' cannot be run: Permission denied\n  fix: name a program that is on PATH\n"),
    ],
    ids=["cluster", "command", "directory"],
)
def test_what_cannot_be_run_is_refused_with_a_fix(arguments: list[str], said: str, capsys: Capture) -> None:
    assert run(["sandbox", "run", *arguments]) == 2
    assert capsys.readouterr().err == f"error: {said}"
