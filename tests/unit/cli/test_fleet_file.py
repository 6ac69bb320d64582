"""Which file is read: the option before or after the command, the variable, or the nearest in this directory and above."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from tenantry.cli.app import app
from tenantry.cli.options import reads_file
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.texts import rocky

SOUND = rocky("web: {kustomize: {source: manifests}}")
FRAMES = "include: [teams/*.yaml]\ntenants: {rocky: {clusters: {names: [hub]}, grants: {sources: ['*']}}}\n"
INCLUDED = SOUND.partition("tenants:\n")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose fleet includes a file; tests start two directories below it."""
    (tmp_path / "tenants.yaml").write_text(INCLUDED[0] + FRAMES)
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "rocky.yaml").write_text(INCLUDED[1] + INCLUDED[2])
    below = tmp_path / "apps" / "web"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return tmp_path


def objects(capsys: Capture, *arguments: str) -> int:
    code, out, err = tenantry(capsys, *arguments, "--output", "json")
    assert (code, err) == (0, "")
    return int(json.loads(out)["objects"]["dev"])


# --- the option -------------------------------------------------------------------------------------------------


@pytest.fixture
def _two_files() -> None:
    Path("one.yaml").write_text(SOUND)
    Path("none.yaml").write_text("")


@pytest.mark.usefixtures("_two_files")
@pytest.mark.parametrize(
    "arguments",
    [
        ("-f", "one.yaml", "validate"),
        ("validate", "-f", "one.yaml"),
        ("--file", "none.yaml", "validate", "--file", "one.yaml"),
        ("validate", "--file", "none.yaml", "--file", "one.yaml"),
    ],
)
def test_the_file_can_be_named_before_and_after_the_command_and_the_later_wins(
    capsys: Capture, arguments: tuple[str, ...]
) -> None:
    assert objects(capsys, *arguments) == 6


@pytest.mark.usefixtures("_two_files")
def test_an_option_after_the_command_wins_over_the_variable(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_FILE", "none.yaml")
    assert tenantry(capsys, "validate")[0] == 2
    assert objects(capsys, "validate", "-f", "one.yaml") == 6


@pytest.mark.usefixtures("_two_files")
@pytest.mark.parametrize("position", [1, 2, 5])
def test_a_group_takes_the_option_too(capsys: Capture, position: int) -> None:
    words = ["bootstrap", "edge", "-e", "dev"]
    code, out, _ = tenantry(capsys, *words[:position], "-f", "one.yaml", *words[position:])
    assert (code, out.startswith("---\n")) == (0, True)


def test_every_command_that_reads_the_file_takes_the_option() -> None:
    without = {
        "completion",
        "schema",
        "import",
        "init",
        "sandbox status",
        "sandbox down",
        "sandbox run",
    }
    without |= {"sandbox tools"}
    assert {name for name, command in _commands() if "--file" not in _options(command)} == without


def _commands() -> list[tuple[str, click.Command]]:
    context = click.Context(app)
    found = [(name, command) for name in app.list_commands(context) if (command := app.get_command(context, name))]
    groups = [(name, command) for name, command in found if isinstance(command, click.Group)]
    below = [(f"{name} {key}", each) for name, group in groups for key, each in group.commands.items()]
    return [*((name, each) for name, each in found if not isinstance(each, click.Group)), *below]


def _options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def test_a_command_may_be_called_with_any_function_name() -> None:
    @reads_file
    def named(file: Path) -> int:
        return len(file.parts)

    assert named.__name__ == "named"


# --- looking above ----------------------------------------------------------------------------------------------


def test_a_fleet_above_is_found_with_the_files_it_includes(capsys: Capture) -> None:
    said = "../../tenants.yaml is valid: 2 clusters, 1 tenant; objects: dev 6\n"
    assert tenantry(capsys, "validate")[:2] == (0, said)


def test_the_nearest_counts(capsys: Capture, project: Path) -> None:
    (project / "apps" / "tenants.yaml").write_text(SOUND)
    assert tenantry(capsys, "validate")[1].startswith("../tenants.yaml is valid")
    Path("tenants.yaml").write_text(SOUND)
    assert tenantry(capsys, "validate")[1].startswith("tenants.yaml is valid")


def test_places_in_messages_can_be_opened_from_here(capsys: Capture, project: Path) -> None:
    broken = project / "teams" / "rocky.yaml"
    broken.write_text(broken.read_text().replace("source: manifests", "source: manifest"))
    code, _, err = tenantry(capsys, "validate")
    place = err.partition(":")[0]
    assert (code, Path(place).resolve()) == (2, broken)


def test_no_fleet_anywhere_is_refused(capsys: Capture, project: Path) -> None:
    (project / "tenants.yaml").unlink()
    assert tenantry(capsys, "validate") == (
        2,
        "",
        "error: there is no tenants.yaml in this directory or above it\n"
        "  fix: cd into the directory of the fleet, or name its file with --file; `tenantry init` makes a new fleet\n",
    )


def test_help_and_the_schema_need_no_fleet(capsys: Capture, project: Path) -> None:
    (project / "tenants.yaml").unlink()
    assert tenantry(capsys, "schema")[0] == tenantry(capsys, "validate", "--help")[0] == 0


@pytest.mark.parametrize("foreign", ["directory", "file"])
def test_a_fleet_above_that_belongs_to_somebody_else_is_not_taken(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, project: Path, foreign: str
) -> None:
    other = {"directory": project, "file": project / "tenants.yaml"}[foreign]
    real = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        found = list(real(path))
        found[4] += path == other
        return os.stat_result(found)

    monkeypatch.setattr(Path, "lstat", lstat)
    assert tenantry(capsys, "validate")[0] == 2
    monkeypatch.chdir(project)
    assert tenantry(capsys, "validate")[0] == 0


# --- what lies beside the file ----------------------------------------------------------------------------------


def test_diff_compares_with_the_commit_from_below_the_fleet(capsys: Capture, project: Path) -> None:
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    code, out, err = tenantry(capsys, "diff")
    assert (code, out.splitlines()[1:], err) == (0, ["", "no difference: dev"], "")


def test_diff_takes_a_base_relative_to_this_directory(capsys: Capture, project: Path) -> None:
    shutil.copytree(project / "teams", "before/teams")
    shutil.copy(project / "tenants.yaml", "before")
    assert tenantry(capsys, "diff", "./before")[:2] == (0, "against before/tenants.yaml\n\nno difference: dev\n")


def test_the_stacks_file_beside_the_fleet_names_the_cluster(capsys: Capture, project: Path) -> None:
    (project / "Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: keys/hub}\n")
    code, _, err = tenantry(capsys, "status", "-e", "dev")
    assert (code, str(project / "keys" / "hub") in err or "../../keys/hub" in err) == (2, True)


def test_the_sandbox_is_kept_beside_the_fleet(capsys: Capture, project: Path) -> None:
    _, _, err = tenantry(capsys, "sandbox", "status")
    assert "../../.sandbox" in err or str(project / ".sandbox") in err


def test_the_sandbox_of_a_named_file_is_kept_in_this_directory(capsys: Capture) -> None:
    _, _, err = tenantry(capsys, "--file", "../../tenants.yaml", "sandbox", "status")
    assert ".sandbox" in err
    assert "../.sandbox" not in err
