"""The commands that the documentation shows for running clusters, on the repository's environment `dev`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping

import pytest

from tests.blocks import PAGES, blocks
from tests.e2e.clusters import Cluster
from tests.e2e.operator import Operator
from tests.e2e.project import REPOSITORY, Project

pytestmark = pytest.mark.e2e

RUN_HERE = [page for page in PAGES if any(each.runs == "sandbox" for each in blocks(page))]


@pytest.fixture(scope="module")
def operator(fleet: Project, hub: Cluster, edge: Cluster) -> Iterator[Operator]:
    """The files that the pages take for granted lie in the project, and go in the end. No namespace has stayed."""
    _forget({"hub-dev": hub, "edge-1": edge})
    root = fleet.root
    for cluster in ("hub-dev", "edge-1"):
        shutil.copy(fleet.kubeconfig(cluster), root / f"{cluster}.kubeconfig")
    (root / "age.agekey").write_text("AGE-SECRET-KEY-MADE-UP")
    shutil.copytree(REPOSITORY / "content" / "git" / "rocky" / "manifests", root.parent / "manifests")
    for command in ("init -q -b main", "add -A", "-c user.name=a -c user.email=a commit -qm Base", "switch -qc next"):
        subprocess.run(["git", "-C", str(root.parent / "manifests"), *command.split()], check=True)
    for command in ("init -q -b main", "add tenants.yaml", "-c user.name=a -c user.email=a commit -qm Base"):
        subprocess.run(["git", "-C", str(root), *command.split()], check=True)
    yield Operator(root, fleet.environment())
    for name in ("manifests", "manifests-main"):
        shutil.rmtree(root.parent / name, ignore_errors=True)
    shutil.rmtree(root / ".git")


def _forget(clusters: Mapping[str, Cluster]) -> None:
    """Delete the namespaces that tenants of other tests have left, as somebody who needs them no more."""
    claim = ("ConfigMap", "tenantry-system", "tenantry-dev")
    found = clusters["hub-dev"].find(*claim) or {"data": {}}
    entries = json.loads(found["data"].get("kept", "[]"))
    for name, cluster in clusters.items():
        cluster.remove_namespaces(
            *cluster.namespaces() & {each["namespace"] for each in entries if each["cluster"] == name}
        )
    clusters["hub-dev"].patch(*claim, {"data": {"kept": None}})


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
