"""A platform team's week: tasks/<task>/change.patch of the fleet in tasks/fleet.yaml, and what `tenantry diff` says about it.

before.patch, where there is one, is what was merged before. `pytest --update-golden` writes the outputs; read each of them
as a reviewer would, and ask whether you would approve the change on this alone.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.cli.lines import MARKER

pytestmark = pytest.mark.usefixtures("plans_once")

HERE = Path(__file__).with_name("tasks")
TASKS = sorted(path.name for path in HERE.iterdir() if path.is_dir())
FORMS = {"text.txt": (), "comment.md": ("--output", "markdown")}
"""The comment is the last, because more is asked of it."""

each_task = pytest.mark.parametrize("task", TASKS)


@pytest.fixture(autouse=True)
def _in_a_copy(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    fleet = Path("tenants.yaml")
    fleet.write_bytes((HERE / "fleet.yaml").read_bytes())
    for name in ("before.patch", "change.patch"):
        Path("before.yaml").write_bytes(fleet.read_bytes())
        if (patch := HERE / task / name).exists():
            subprocess.run(("git", "apply", patch), check=True)


@each_task
def test_a_task_is_told_in_exactly_these_words_without_secrets_and_every_object_is_explained(
    task: str, capsys: pytest.CaptureFixture[str], *, update_golden: bool
) -> None:
    for form, options in FORMS.items():
        code = run(["diff", "./before.yaml", *options])
        out, err = capsys.readouterr()
        expected = HERE / task / form
        if update_golden:
            expected.write_text(f"{out}{err}exit code: {code}\n")
        assert expected.read_text() == f"{out}{err}exit code: {code}\n"
    assert out.startswith(MARKER)
    assert len(out) < 10_000
    assert "hunter2" not in out
    run(["diff", "./before.yaml", "--output", "json"])
    for each in json.loads(capsys.readouterr().out)["environments"]:
        assert [one["object"] for one in each["objects"] if not one["explained"]] == []
