"""The page on disasters, followed after each of them has happened to running clusters."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.blocks import Block, blocks
from tests.e2e.clusters import Cluster
from tests.e2e.operator import Operator
from tests.e2e.project import Project
from tests.e2e.test_leaving import state
from tests.faults import etcd
from tests.faults.parts import API, CONTROLLERS, kill

pytestmark = pytest.mark.e2e

HUB, EDGE = "hub-dev", "edge-1"
STATE, LOST, OLD, REPLACED = [each for each in blocks("docs/disaster.md") if each.runs == "disaster"]
"""What the page says for each case, in its order."""


@pytest.fixture
def operator(fleet: Project) -> Iterator[Operator]:
    """Somebody with the kubeconfigs of administrators."""
    made, config = Operator(fleet.root, fleet.environment()), fleet.root / "Pulumi.dev.yaml"
    made.runs, kept = "disaster", config.read_text()
    for cluster in (HUB, EDGE):
        shutil.copy(fleet.kubeconfig(cluster), fleet.root / f"{cluster}.kubeconfig")
    yield made
    config.write_text(kept)


def holding(fleet: Project, cluster: str, copy: etcd.Copy) -> None:
    """Have a cluster be as a copy says, and everything that runs for it start anew."""
    for part in (*(CONTROLLERS if cluster == HUB else ()), "kube-controller-manager", API):
        kill(fleet, cluster, part)
    etcd.put_back(fleet, cluster, copy)
    fleet.start("dev")


def followed(operator: Operator, block: Block) -> None:
    operator.follow(block)
    assert operator.differences == []


def test_the_state_is_lost(operator: Operator, fleet: Project, hub: Cluster, edge: Cluster) -> None:
    before = state(hub, edge)
    fleet.pulumi("stack", "rm", "dev", "--yes", "--force", "--preserve-config").ok()
    followed(operator, STATE)
    assert state(hub, edge) == before


def test_the_management_cluster_is_lost_and_has_another_address(
    operator: Operator, fleet: Project, edge: Cluster
) -> None:
    before = state(edge)
    holding(fleet, HUB, {})
    followed(operator, LOST)
    assert state(edge) == before


def test_the_management_cluster_is_restored_from_an_old_backup(
    operator: Operator, fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    """Since the backup a quota has changed."""
    copy, before = etcd.copied(fleet, HUB), state(edge)
    fleet.edit("quota: {pods: 60}", "quota: {pods: 62}")
    fleet.up().ok()
    holding(fleet, HUB, copy)
    followed(operator, OLD)
    quota = hub.find("ResourceQuota", "movy", "tenantry")
    assert quota
    assert quota["spec"]["hard"]["pods"] == "62"
    assert state(edge) == before


def test_a_remote_cluster_is_replaced_under_its_name(operator: Operator, fleet: Project, hub: Cluster) -> None:
    holding(fleet, EDGE, {})
    before = state(hub)
    followed(operator, REPLACED)
    edge = Cluster(fleet.kubeconfig(EDGE))
    try:
        for namespace in ("movy", "rocky"):
            edge.until("Deployment", namespace, "web", lambda found: found["status"].get("readyReplicas"), "its pods")
    finally:
        edge.close()
    fleet.wait("dev")
    assert state(hub) == before
