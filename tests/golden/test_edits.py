"""Edits of the shipped fleets: edits/edits.yaml has the commands, edits/<fleet>.txt what each one says and changes.

`pytest --update-golden` writes the texts; read them as somebody who ran the command.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest
import yaml

from tenantry.cli.app import run
from tests.unit.edit.fleets import opened

pytestmark = pytest.mark.usefixtures("plans_once")
HERE = Path(__file__).with_name("edits")
TASKS = yaml.safe_load((HERE / "tasks.yaml").read_text())
FLEETS = yaml.safe_load((HERE / "edits.yaml").read_text())


def test_there_are_enough_edits() -> None:
    assert sum(map(len, FLEETS.values())) >= 60


@pytest.mark.parametrize("fleet", FLEETS)
def test_edits_change_and_say_what_was_looked_at(
    fleet: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    update_golden: bool,
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    files = copied(fleet)
    told = ""
    for case in FLEETS[fleet]:
        code = run(shlex.split(case["edit"]))
        said = "".join(capsys.readouterr())
        ended = "" if code == 0 else f"exit code: {code}\n"
        told += f"$ tenantry {case['edit']}\n{said}{difference(files)}{ended}\n"
        restore(files)
        capsys.readouterr()
    expected = HERE / f"{fleet}.txt"
    if update_golden:
        expected.write_text(told)
    assert expected.read_text() == told


def copied(fleet: str) -> dict[Path, bytes]:
    """The files of a fleet in the current directory, by their relative paths."""
    editor = opened(fleet)
    files = {Path(os.path.relpath(file, editor.main.parent)): editor.read(file) for file in editor.documents}
    files[Path("tenants.yaml")] = files.pop(Path(editor.main.name))
    restore(files)
    return files


def restore(files: dict[Path, bytes]) -> None:
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)


def difference(files: dict[Path, bytes]) -> str:
    """The changed lines of all files, with the line above and below."""
    pairs = ((file, before.decode(), file.read_bytes().decode()) for file, before in files.items())
    lines = (
        line
        for file, before, after in pairs
        for line in unified_diff(before.splitlines(), after.splitlines(), f"a/{file}", f"b/{file}", n=1, lineterm="")
    )
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_done_by_its_commands(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data is that of the patch which somebody wrote by hand; only places of new entries can differ."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    fleet = Path("tenants.yaml")
    fleet.write_bytes((HERE.parent / "tasks" / "fleet.yaml").read_bytes())
    for name in ("before.patch", "change.patch"):
        before = fleet.read_bytes()
        if (patch := HERE.parent / "tasks" / task / name).exists():
            subprocess.run(("git", "apply", patch), check=True)
    wanted = yaml.safe_load(fleet.read_text())
    fleet.write_bytes(before)
    for command in TASKS[task]:
        assert run(shlex.split(command)) == 0
    done = yaml.safe_load(fleet.read_text())
    assert _unordered(done) == _unordered(wanted)


def _unordered(data: object) -> object:
    """The data without the order of clusters in a selector."""
    if isinstance(data, dict):
        return {key: sorted(each) if key == "names" else _unordered(each) for key, each in data.items()}
    return data
