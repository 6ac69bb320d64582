"""docs/new-fleet.md, from an empty directory to running apps: with the package as others install it, not with this repository."""

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

from tenantry.sandbox.ports import allocate
from tests.blocks import blocks
from tests.e2e.caretaker import caretaker
from tests.e2e.clusters import Cluster
from tests.e2e.project import REPOSITORY, Project, sandboxed
from tests.reader import Reader

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
    port = allocate(["content"], {}, ())["content"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(tmp / "site"))
        caretaker().expect(root / ".sandbox")
        with sandboxed(Project(root, port)) as made:
            yield made


class Newcomer(Reader):
    """Somebody who types what the page says; only the port is another, so that several sandboxes can run."""

    runs = "new-fleet"

    def __init__(self, project: Project) -> None:
        super().__init__(project.root, lambda: ("", ""))
        self.port = project.port
        self.environment = {
            **os.environ,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PULUMI_SKIP_CONFIRMATIONS": "true",
            "GIT_CEILING_DIRECTORIES": str(project.root.parent),
        }

    def start(self, project: str) -> None:
        """Nothing: what runs without a sandbox is run by the fast tests."""

    def printed(self, command: str) -> tuple[int, str]:
        if command.startswith("tenantry init"):
            command += f" --sandbox-port {self.port}"
        if command.startswith("pulumi "):
            command = f"tenantry sandbox run -- {command}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        return done.returncode, done.stdout


def test_the_page_leads_from_an_empty_directory_to_running_apps(project: Project) -> None:
    newcomer = Newcomer(project)
    for block in blocks("docs/new-fleet.md"):
        newcomer.follow(block)
    apps = json.loads(project.tenantry("status", "--environment", "dev", "--output", "json").ok().out)["apps"]
    assert {(each["tenant"], each["cluster"], each["app"], each["status"]) for each in apps} == {
        ("rocky", "hub-dev", "web", "ready"),
        ("rocky", "edge-1", "web", "ready"),
    }
    with closing(Cluster(project.kubeconfig("edge-1"))) as edge:
        edge.wait_scaled("rocky", "web", 1)


def test_the_file_has_no_warnings_and_the_policy_pack_no_violations(project: Project) -> None:
    assert "tenants.yaml is valid" in project.tenantry("validate", "--strict").ok().text
    preview = project.pulumi("preview", "--stack", "dev", "--policy-pack", "policy", "--expect-no-changes").ok()
    assert "tenantry@v0.1.0 (local: " in preview.text


def test_pulumi_new_makes_the_same(project: Project, tmp_path: Path) -> None:
    template = str(REPOSITORY / "templates" / "pulumi")
    options = ("--generate-only", "--offline", "--yes", "--name", "acme", "--dir", str(tmp_path / "acme"))
    project.pulumi("new", template, *options).ok()
    assert "name: acme\n" in (tmp_path / "acme" / "Pulumi.yaml").read_text()
    made = Project(tmp_path / "acme", 0)
    made.tenantry("validate", "--strict").ok()
    made.tenantry("upgrade").ok()
    made.tenantry("upgrade", "--check").ok()
