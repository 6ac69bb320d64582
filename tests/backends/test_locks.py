"""State in files and in PostgreSQL, with the real engine: locks, a killed holder, and a run after it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.tools.locate import path_of
from tests.backends.servers import PROGRAMS, postgresql

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
import time
from pathlib import Path
import pulumi

class Part(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("test:index:Part", name, {})
        self.register_outputs({})

for number in range(20):
    Part(f"part-{number}")
if Path("wait").exists():
    Path("waiting").touch()
    time.sleep(60)
"""


@pytest.fixture(params=["file", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        (tmp_path / "state").mkdir()
        yield f"file://{tmp_path}/state?metadata=skip"
    elif not PROGRAMS:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    else:
        with postgresql() as address:
            yield address


class Project:
    def __init__(self, root: Path, backend: str) -> None:
        self.root = root
        (root / "Pulumi.yaml").write_text(
            "name: state\nruntime: {name: python, options: {toolchain: pip, virtualenv: .venv}}\n"
        )
        (root / "__main__.py").write_text(PROGRAM)
        (root / ".venv").symlink_to(ROOT / ".venv")
        programs = {str(path_of(each).parent) for each in ("pulumi", "pulumi-language-python")}
        self.environment = {
            "HOME": str(root),
            "PATH": os.pathsep.join([*programs, os.environ["PATH"]]),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": backend,
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["pulumi", "--non-interactive", *arguments],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        with self.start(*arguments) as process:
            out, _ = process.communicate(timeout=300)
        return process.returncode, out

    def resources(self) -> list[str]:
        _, out = self.run("stack", "export", "--stack", "one")
        return [each["urn"] for each in json.loads(out)["deployment"].get("resources") or []]


UP = ("up", "--yes", "--skip-preview", "--stack", "one")


def test_a_killed_run_keeps_its_lock_and_the_next_one_loses_nothing(tmp_path: Path, backend: str) -> None:
    if not shutil.which(str(path_of("pulumi"))):
        pytest.skip("pulumi is not built: make tools")
    project = Project(tmp_path, backend)
    assert project.run("stack", "init", "one")[0] == 0
    (tmp_path / "wait").touch()
    holder = project.start(*UP)
    try:
        for _ in range(600):
            if (tmp_path / "waiting").exists():
                break
            time.sleep(0.1)
        assert holder.poll() is None
        code, said = project.run(*UP)
        assert code != 0
        assert "the stack is currently locked by 1 lock(s)" in said
    finally:
        os.killpg(holder.pid, 9)  # the engine, the language host and the program
        holder.communicate()
    (tmp_path / "wait").unlink()
    assert "the stack is currently locked by 1 lock(s)" in project.run(*UP)[1]
    assert project.resources() == []
    assert project.run("cancel", "--yes", "--stack", "one")[0] == 0
    code, said = project.run(*UP)
    assert code == 0, said
    found = project.resources()
    assert (21, 21) == (len(found), len(set(found)))
