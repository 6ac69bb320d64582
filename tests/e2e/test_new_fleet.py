"""docs/tutorial.md and docs/install.md, from an empty directory, with the package as others install it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from tests.blocks import blocks
from tests.e2e.caretaker import caretaker
from tests.e2e.clusters import Cluster
from tests.e2e.operator import Operator
from tests.e2e.project import REPOSITORY, Project, sandboxed

pytestmark = pytest.mark.e2e

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """An empty directory, and the contents of the wheel before this repository on the path of every Python."""
    tmp = tmp_path_factory.mktemp("new")
    subprocess.run([BIN / "uv", "build", "--quiet", "--wheel", "--out-dir", tmp, REPOSITORY], check=True)
    with zipfile.ZipFile(next(tmp.glob("*.whl"))) as wheel:
        wheel.extractall(tmp / "site")
    root = tmp / "fleet"
    root.mkdir()
    (root / ".venv").symlink_to(BIN.parent)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(tmp / "site"))
        caretaker().expect(root / ".sandbox")
        with sandboxed(Project(root, programs=BIN)) as made:
            yield made


class Newcomer(Operator):
    """Somebody who types what the page says."""

    def __init__(self, project: Project, runs: str) -> None:
        super().__init__(project.root, {**os.environ, "GIT_CEILING_DIRECTORIES": str(project.root.parent)}, BIN)
        self.runs = runs

    def printed(self, command: str) -> tuple[int, str]:
        if command.startswith("pulumi "):
            command = f"tenantry sandbox run -- {command}"
        return super().printed(command)


def follow(page: str, project: Project, runs: str) -> None:
    newcomer = Newcomer(project, runs)
    for block in blocks(page):
        newcomer.follow(block)
    assert newcomer.differences == []


def test_the_tutorial_leads_from_an_empty_directory_to_a_second_tenant_on_a_remote_cluster(project: Project) -> None:
    follow("docs/tutorial.md", project, "tutorial")
    apps = json.loads(project.tenantry("status", "--environment", "dev", "--output", "json").ok().out)["apps"]
    assert {(each["tenant"], each["cluster"], each["app"], each["status"]) for each in apps} == {
        ("rocky", "hub-dev", "web", "ready"),
        ("rocky", "edge-1", "web", "ready"),
        ("movy", "edge-1", "shop", "ready"),
    }
    with closing(Cluster(project.kubeconfig("edge-1"))) as edge:
        edge.wait_scaled("rocky", "web", 1)
        edge.wait_scaled("movy", "web", 2)


def test_the_page_on_new_fleets_goes_on_from_there(project: Project) -> None:
    follow("docs/install.md", project, "new-fleet")


def test_the_file_has_no_warnings_and_nothing_is_left_to_do(project: Project) -> None:
    assert "tenants.yaml is valid" in project.tenantry("validate", "--strict").ok().text
    project.pulumi("preview", "--stack", "dev", "--expect-no-changes").ok()


def test_pulumi_new_makes_the_same(project: Project, tmp_path: Path) -> None:
    template = str(REPOSITORY / "templates" / "pulumi")
    options = ("--generate-only", "--offline", "--yes", "--name", "acme", "--dir", str(tmp_path / "acme"))
    project.pulumi("new", template, *options).ok()
    assert "name: acme\n" in (tmp_path / "acme" / "Pulumi.yaml").read_text()
    made = Project(tmp_path / "acme", programs=BIN)
    made.tenantry("validate", "--strict").ok()
    project.tenantry("init", str(tmp_path / "same"), "--yes", "--name", "acme").ok()
    theirs, ours = (contents(tmp_path / each) for each in ("acme", "same"))
    assert ours.pop("tenants.schema.json") == project.tenantry("schema").ok().out
    projects = [yaml.safe_load(each.pop("Pulumi.yaml")) for each in (theirs, ours)]
    assert projects[0]["config"].pop("pulumi:tags") == {"value": {"pulumi:template": template}}  # Pulumi's own note
    assert projects[0] == projects[1]
    assert theirs == ours


def contents(root: Path) -> dict[str, str]:
    return {each.relative_to(root).as_posix(): each.read_text() for each in root.rglob("*") if each.is_file()}


def test_in_the_end_nothing_is_left(project: Project) -> None:
    follow("docs/tutorial.md", project, "at the end")
    assert not project.sandbox.exists()
