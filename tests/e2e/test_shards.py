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

TENANTRY = str(Path(sys.executable).with_name("tenantry"))
WAVES = "rollout: {waves: [{names: [edge-1]}, {all: true}]}"
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
    """The project with a third tenant and two waves. At the end it has its file and one stack again, which holds nothing."""
    fleet.fleet.write_text(
        (original + OTTO).replace("    management: hub-dev\n", f"    management: hub-dev\n    {WAVES}\n")
    )
    fleet.deploy("dev")
    yield fleet
    fleet.fleet.write_text(original)
    for stack in ("dev-2", "dev"):
        if fleet.has_resources(stack):
            fleet.destroy(stack).ok()
    fleet.pulumi("config", "rm", "--stack", "dev", "tenantry:shard").ok()
    fleet.pulumi("stack", "rm", "dev-2", "--yes").ok()
    hub.remove_namespace("cert-controller")  # Helm made it, and leaves it


def test_an_environment_is_divided_and_its_stacks_run_in_order(
    three: Project, hub: Cluster, edge: Cluster, tmp_path: Path
) -> None:
    there = hub.fleet_uids(), edge.fleet_uids()
    begun = len(changes_by_the_provider(three, "hub-dev"))
    planned = _move(three, 2, "--dry-run").ok()
    assert "dev -> dev-2\n    otto: " in planned.out
    _is_killed_in_a_move(three, tmp_path)
    _move(three, 2).ok()
    assert (hub.fleet_uids().items() >= there[0].items(), edge.fleet_uids()) == (True, there[1])
    for stack in ("dev", "dev-2"):
        assert three.preview(stack=stack) == {}
    assert changes_by_the_provider(three, "hub-dev")[begun:] == []

    _refuses_another_division(three)
    _refuses_another_division_without_claims(three, hub)
    _changes_one_shard_after_the_other_each_in_its_waves(three)
    _removes_a_cluster_from_the_last_shard_to_the_first(three, hub)
    _becomes_one_stack_and_two_again(three, hub)
    _is_destroyed_from_the_last_shard_to_the_first(three, hub)


def _is_killed_in_a_move(project: Project, folder: Path) -> None:
    """The command dies when the second state has been written and the first one has not: both hold the tenant that moves."""
    killing = folder / "pulumi"
    killing.write_text(
        f"""#!/bin/sh
case "$*" in *"stack import --stack dev") echo >> {folder}/imports; [ $(wc -l < {folder}/imports) = 1 ] || kill -9 $PPID;; esac
exec "$REAL" "$@"
"""
    )
    killing.chmod(0o755)
    script = f'REAL=$(command -v pulumi) PATH={folder}:$PATH exec "$@"'
    killed = project.tenantry("sandbox", "run", "--", "sh", "-c", script, "sh", *_moving(2))
    assert (killed.code != 0, "made stack 'dev-2'" in killed.text, "wrote the state of 'dev-2'" in killed.text) == (
        True,
        True,
        True,
    )
    assert "is being divided into 2 shards, and its stacks' states are not complete" in project.up("dev").text


def _refuses_another_division(project: Project) -> None:
    """A stack that is set to another shard, or to all of the environment, would delete tenants of its state."""
    project.pulumi("config", "rm", "--stack", "dev", "tenantry:shard").ok()
    refused = project.up("dev")
    assert "runs shard 1/2 of 'dev' and is set to run all: it would delete tenants" in refused.text
    project.pulumi("config", "set", "--stack", "dev", "tenantry:shard", "1/2").ok()


def _refuses_another_division_without_claims(project: Project, hub: Cluster) -> None:
    """If somebody deletes the claims, too, only the stack's state still says what the engine would delete."""
    claims = [hub.find("ConfigMap", "tenantry-system", name) or {} for name in ("tenantry-dev", "tenantry-dev.2")]
    for each in claims:
        hub.delete("ConfigMap", "tenantry-system", each["metadata"]["name"])
    project.pulumi("config", "set", "--stack", "dev", "tenantry:shard", "2/2").ok()
    refused = project.up("dev")
    assert "and shared objects of 'dev', which are not in shard 2/2: it would delete them" in refused.text
    project.pulumi("config", "set", "--stack", "dev", "tenantry:shard", "1/2").ok()
    for each in claims:
        kept = {key: each["metadata"][key] for key in ("name", "namespace", "labels")}
        hub.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": kept, "data": each["data"]})


def _changes_one_shard_after_the_other_each_in_its_waves(project: Project) -> None:
    begun = len(changes_by_the_provider(project, "hub-dev"))
    project.edit("  retryInterval: 5s\n", "  retryInterval: 4s\n")
    options = ("--yes", "--skip-preview", "--no-preflight", "--no-wait")
    done = _in_sandbox(project, "up", "--environment", "dev", *options).ok()
    assert "wave 1 of 2: ready after " in done.text
    changed = changes_by_the_provider(project, "hub-dev")[begun:]
    # `web` is rocky's, in the first shard. Of the two called `worker`, otto's is in the second one.
    first, last = changed.index("patch kustomizations/web"), changed[::-1].index("patch kustomizations/worker")
    assert changed.index("patch kustomizations/edge-1-rocky-web") < first
    assert first < changed.index("patch kustomizations/edge-1-otto-worker") < len(changed) - 1 - last


def _removes_a_cluster_from_the_last_shard_to_the_first(project: Project, hub: Cluster) -> None:
    text = project.fleet.read_text()
    selected = text.replace("clusters: {labels: {tier: edge}}", "clusters: {names: [hub-dev]}")
    project.fleet.write_text(selected.replace("  clusters: {all: true}", "  clusters: {names: [hub-dev]}"))
    refused = project.up("dev")
    assert "which Flux needs to clean up" in refused.text
    assert "`tenantry up --environment dev` runs that shard first; without it: pulumi up --stack dev-2" in refused.text
    alone = _in_sandbox(project, "destroy", "--environment", "dev", "--shard", "1/2", "--yes", "--skip-preview")
    assert "`tenantry destroy --environment dev` runs that shard first" in alone.text
    done = _in_sandbox(project, "up", "--environment", "dev", "--yes", "--skip-preview").ok()
    assert "shard 1/2 runs last" in done.text
    assert done.text.index("pulumi up --stack dev-2") < done.text.index("pulumi up --stack dev ")
    assert not [each for each in hub.fleet_objects() if "kamaji-edge/" in each]


def _becomes_one_stack_and_two_again(project: Project, hub: Cluster) -> None:
    _move(project, 1).ok()
    assert hub.find("ConfigMap", "tenantry-system", "tenantry-dev.2") is None
    _move(project, 2).ok()


def _is_destroyed_from_the_last_shard_to_the_first(project: Project, hub: Cluster) -> None:
    done = _in_sandbox(project, "destroy", "--environment", "dev", "--offboard", "--yes", "--skip-preview").ok()
    assert done.text.index("pulumi destroy --stack dev-2") < done.text.index("pulumi destroy --stack dev ")
    assert "no other object of environment 'dev' is left on hub-dev" in done.text
    hub.wait_gone("otto")


def _move(project: Project, count: int, *options: str) -> Result:
    return project.tenantry("sandbox", "run", "--", *_moving(count), *options)


def _moving(count: int) -> tuple[str, ...]:
    return (TENANTRY, "shards", "move", "--environment", "dev", "--to", str(count))


def _in_sandbox(project: Project, *arguments: str) -> Result:
    return project.tenantry("sandbox", "run", "--", TENANTRY, *arguments)
