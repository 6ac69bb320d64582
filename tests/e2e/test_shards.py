"""An environment between two stacks: divided and put together again without a deletion, and in which order its stacks run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.audit import changes_by_the_provider
from tests.e2e.clusters import Cluster
from tests.e2e.project import Project, Result

pytestmark = pytest.mark.e2e

OTTO = """\
  # In the second of two shards; the other tenants are in the first one.
  otto:
    sources:
      manifests: {git: {url: "{git}/movy/manifests.git", ref: {branch: main}}}
    apps:
      worker:
        kustomize: {source: manifests, path: ./worker}
"""


@pytest.fixture
def three(fleet: Project, original: str, hub: Cluster) -> Iterator[Project]:
    """The project with a third tenant. When the test is over, it has its file and one stack again, which holds nothing."""
    fleet.fleet.write_text(original + OTTO)
    fleet.deploy("dev")
    yield fleet
    fleet.fleet.write_text(original)
    _move(fleet, 1).ok()
    fleet.pulumi("stack", "rm", "dev-2", "--yes").ok()
    fleet.destroy("dev").ok()
    hub.remove_namespace("cert-controller")  # Helm made it, and leaves it


def test_an_environment_is_divided_and_its_stacks_run_in_order(three: Project, hub: Cluster, edge: Cluster) -> None:
    there = hub.fleet_uids(), edge.fleet_uids()
    begun = len(changes_by_the_provider(three, "hub-dev"))
    planned = _move(three, 2, "--dry-run").ok()
    assert "dev -> dev-2\n    otto: " in planned.out
    _move(three, 2).ok()
    assert (hub.fleet_uids().items() >= there[0].items(), edge.fleet_uids()) == (True, there[1])
    for stack in ("dev", "dev-2"):
        assert three.preview(stack=stack) == {}
    assert changes_by_the_provider(three, "hub-dev")[begun:] == []

    _refuses_another_division(three)
    _refuses_another_division_without_claims(three, hub)
    _removes_a_cluster_from_the_last_shard_to_the_first(three, hub)
    three.destroy("dev-2").ok()
    hub.wait_gone("otto")


def _refuses_another_division(project: Project) -> None:
    """A stack that is set to another shard, or to all of the environment, would delete tenants of its state."""
    project.pulumi("config", "rm", "--stack", "dev", "tenantry:shard").ok()
    refused = project.up("dev")
    assert "runs shard 1/2 of 'dev' and is set to run all: it would delete tenants" in refused.text
    project.pulumi("config", "set", "--stack", "dev", "tenantry:shard", "1/2").ok()


def _refuses_another_division_without_claims(project: Project, hub: Cluster) -> None:
    """If somebody deletes the claims, too, only the stack's state still says what the engine would delete."""
    claims = "tenantry-dev", "tenantry-dev.2"
    for each in claims:
        hub.delete("ConfigMap", "tenantry-system", each)
    project.pulumi("config", "set", "--stack", "dev", "tenantry:shard", "2/2").ok()
    refused = project.up("dev")
    assert "and shared objects of 'dev', which are not in shard 2/2: it would delete them" in refused.text
    project.pulumi("config", "set", "--stack", "dev", "tenantry:shard", "1/2").ok()
    for stack in ("dev", "dev-2"):
        assert "which says what this stack runs, was deleted" in project.up(stack, "--refresh").ok().text
    assert all(hub.find("ConfigMap", "tenantry-system", each) for each in claims)


def _removes_a_cluster_from_the_last_shard_to_the_first(project: Project, hub: Cluster) -> None:
    text = project.fleet.read_text()
    selected = text.replace("clusters: {labels: {tier: edge}}", "clusters: {names: [hub-dev]}")
    project.fleet.write_text(selected.replace("  clusters: {all: true}", "  clusters: {names: [hub-dev]}"))
    refused = project.up("dev")
    assert "which Flux needs to clean up" in refused.text
    assert "run that shard first: pulumi up --stack dev-2" in refused.text
    project.up("dev-2").ok()
    project.up("dev").ok()
    assert not [each for each in hub.fleet_objects() if "kamaji-edge/" in each]


def _move(project: Project, count: int, *options: str) -> Result:
    tenantry = str(Path(sys.executable).with_name("tenantry"))
    command = (tenantry, "shards", "move", "--environment", "dev", "--to", str(count), *options)
    return project.tenantry("sandbox", "run", "--", *command)
