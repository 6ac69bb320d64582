"""What a shell offers after TAB."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from tenantry.cli.app import app
from tests.unit.texts import rocky

TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
FRAME, _, TENANTS = TEXT.partition("tenants:\n")


@pytest.fixture(autouse=True)
def _below_the_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fleet is in the parent directory, and its tenant in an included file."""
    (tmp_path / "tenants.yaml").write_text(FRAME + "include: [rocky.yaml]\ntenants: {rocky: {}}\n")
    (tmp_path / "rocky.yaml").write_text("tenants:\n" + TENANTS)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")


def offered(*words: str) -> list[str]:
    *before, start = words
    complete = ShellComplete(app, {}, "tenantry", "_TENANTRY_COMPLETE")
    return [each.value for each in complete.get_completions(before, start)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("di",), ["diff"]),
        (("s",), ["set", "stacks", "status", "suspend", "sandbox", "schema"]),
        (("--f",), ["--file"]),
        (("cluster", ""), ["bootstrap", "check", "discover"]),
        (("render", "--dir"), ["--directory"]),
        (("render", "--environment", ""), ["dev"]),
        (("sandbox", "up", "-e", ""), ["dev"]),
        (("explain", ""), ["rocky", "platform"]),
        (("explain", "rocky", ""), ["web"]),
        (("parity", "dev", ""), ["dev"]),
        (("explain", "rocky", "web", "-c", ""), ["hub", "edge"]),
        (("cluster", "check", "e"), ["edge"]),
        (("cluster", "bootstrap", ""), ["hub", "edge"]),
        (("list", ""), ["tenants", "apps", "clusters", "placements", "sources", "environments"]),
        (("list", "apps", "--tenant", ""), ["rocky", "platform"]),
        (("status", "--tenant", "rocky", "--app", ""), ["web"]),
        (("status", "--cluster", "e"), ["edge"]),
        (("suspend", "rocky", ""), ["web"]),
        (("diff", "--source", ""), ["rocky/manifests=", "rocky/charts="]),
        (("diff", "--source-before", "rocky/m"), ["rocky/manifests="]),
        (("diff", "--also", "h"), ["html="]),
        (("set", "tenants.r"), ["tenants.rocky"]),
        (("set", "tenants.rocky.quo"), ["tenants.rocky.quota"]),
        (("unset", "tenants.rocky.apps.web.dep"), ["tenants.rocky.apps.web.dependsOn"]),
        (("set", 'environments["d'), ["environments.dev"]),
        (("set", "tenants["), ["tenants.rocky"]),
        (("add", "app", ""), ["rocky/"]),
        (("add", "tenant", "nora", "--clusters", "hub,"), ["hub,edge"]),
        (("add", "tenant", "nora", "--environments", ""), ["dev"]),
        (("add", "override", "rocky/"), ["rocky/web"]),
        (("add", "override", "d"), ["defaults"]),
        (("add", "grant", ""), ["rocky"]),
        (("remove", "source", "rocky/c"), ["rocky/charts"]),
        (("remove", "cluster", ""), ["hub", "edge"]),
        (("rename", "environment", ""), ["dev"]),
        (("move", "app", "rocky/web", "r"), ["rocky"]),
        (("move", "cluster", "edge", "--environments", ""), ["dev"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
    ],
)
def test_words_come_from_the_commands_and_the_fleet(words: tuple[str, ...], expected: list[str]) -> None:
    assert sorted(offered(*words)) == sorted(expected)


@pytest.mark.parametrize("words", [("-f", "other.yaml", "render", "-e", ""), ("render", "-f", "other.yaml", "-e", "")])
def test_the_file_that_was_named_counts(words: tuple[str, ...]) -> None:
    Path("other.yaml").write_text(TEXT.replace("dev", "prod"))
    assert offered(*words) == ["prod"]


def test_a_broken_file_offers_nothing() -> None:
    Path("tenants.yaml").write_text("a: [")
    assert offered("render", "-e", "") == []


def test_commands_are_offered_without_importing_them() -> None:
    code = "import sys; from tenantry.cli.app import start\ntry: start()\nfinally: print('pydantic' in sys.modules)"
    variables = {"_TENANTRY_COMPLETE": "bash_complete", "COMP_WORDS": "tenantry di", "COMP_CWORD": "1"}
    environment = {**os.environ, **variables, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "plain,diff\nFalse\n"


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_script_is_one_for_the_shell(shell: str, check: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} on this machine")
    app.main(["completion", shell], prog_name="tenantry", standalone_mode=False)
    script = capsys.readouterr().out
    assert subprocess.run([shell, check], input=script, text=True, check=False).returncode == 0


def test_bash_completes_with_the_script() -> None:
    """As after `eval "$(tenantry completion bash)"` and TAB behind `tenantry explain ro`."""
    session = """
        eval "$(tenantry completion bash)"
        COMP_WORDS=(tenantry explain ro); COMP_CWORD=2
        _tenantry_completion tenantry ro explain
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", session], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("rocky\n", "")
