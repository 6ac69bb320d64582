"""The commands that the documentation shows for running clusters, on the repository's environment `dev`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.blocks import PAGES, ROOT, blocks
from tests.e2e.operator import Operator
from tests.e2e.project import REPOSITORY, Project

pytestmark = pytest.mark.e2e

RUN_HERE = [page for page in PAGES if any(each.runs == "sandbox" for each in blocks(page))]


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
    yield Operator(root, fleet.environment())
    for name in ("manifests", "manifests-main"):
        shutil.rmtree(root.parent / name, ignore_errors=True)
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
