"""The commands that the documentation shows for running clusters, on the repository's environment `dev`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.blocks import PAGES, ROOT, blocks
from tests.e2e.project import REPOSITORY, Project
from tests.reader import Reader

pytestmark = pytest.mark.e2e

RUN_HERE = [page for page in PAGES if any(each.runs == "sandbox" for each in blocks(page))]


class Operator(Reader):
    """Somebody with the sandbox's kubeconfigs and programs; what Pulumi asks for, they type."""

    runs = "sandbox"

    def __init__(self, project: Project) -> None:
        super().__init__(project.root, lambda: ("", ""))
        self.environment = {
            **project.environment(),
            "PATH": f"{Path(sys.executable).parent}:{project.environment()['PATH']}",
            "PULUMI_SKIP_CONFIRMATIONS": "true",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    def start(self, project: str) -> None:
        """Nothing: a page's sandbox blocks are about the running fleet."""

    def printed(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command.replace(".venv/bin/", "")],
            cwd=self.root,
            env=self.environment,
            input="typed",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def operator(fleet: Project) -> Iterator[Operator]:
    """The files that the pages take for granted lie in the project, and go in the end."""
    root = fleet.root
    for cluster in ("hub-dev", "edge-1"):
        shutil.copy(fleet.kubeconfig(cluster), root / f"{cluster}.kubeconfig")
    (root / "age.agekey").write_text("AGE-SECRET-KEY-MADE-UP")
    (root / "policy").symlink_to(ROOT / "policy")
    shutil.copytree(
        REPOSITORY / "tenantry" / "sandbox" / "content" / "git" / "rocky" / "manifests", root.parent / "manifests"
    )
    for command in ("init -q -b main", "add -A", "-c user.name=a -c user.email=a commit -qm Base", "switch -qc next"):
        subprocess.run(["git", "-C", str(root.parent / "manifests"), *command.split()], check=True)
    for command in ("init -q -b main", "add tenants.yaml", "-c user.name=a -c user.email=a commit -qm Base"):
        subprocess.run(["git", "-C", str(root), *command.split()], check=True)
    yield Operator(fleet)
    for name in ("manifests", "manifests-main"):
        shutil.rmtree(root.parent / name)
    shutil.rmtree(root / ".git")


@pytest.fixture(autouse=True)
def _as_before(fleet: Project) -> Iterator[None]:
    """Settings of stacks and the file stay as they were."""
    kept = {file: file.read_text() for file in [fleet.fleet, *fleet.root.glob("Pulumi*.yaml")]}
    yield
    for file, text in kept.items():
        file.write_text(text)
    if list(fleet.sandbox.glob("state/.pulumi/stacks/*/prod.json")):
        fleet.pulumi("stack", "rm", "prod", "--yes", "--force", "--preserve-config").ok()


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_commands_of_a_page_do_what_it_shows(page: str, operator: Operator) -> None:
    operator.differences.clear()
    for block in blocks(page):
        operator.follow(block)
    assert operator.differences == []
