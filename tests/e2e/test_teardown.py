"""The end of a fleet and of its sandbox."""

from __future__ import annotations

import subprocess

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e


STAYED = {"ci", "nora"}
"""What other files' tests on this fleet took away without off-boarding, whose namespace stays: test_failing's tenant; and
the namespace of the account that runs test_fleet."""


def test_destroy_leaves_nothing_on_either_cluster(fleet: Project, hub: Cluster, edge: Cluster) -> None:
    assert "no other object of environment 'dev' is left on hub-dev" in fleet.offboard().ok().text
    assert hub.fleet_objects() | edge.fleet_objects() == set()
    for cluster in (hub, edge):
        cluster.wait_gone("rocky", "movy")
    for cluster, kept in (
        (hub, {"flux-system", "kamaji-edge", "tenantry-system"}),
        (edge, {"tenantry-system", "cert-controller"}),
    ):
        ours = {name for name in cluster.namespaces() if name != "default" and not name.startswith("kube-")}
        assert ours - STAYED == kept


def test_down_leaves_no_process_and_no_file(fleet: Project) -> None:
    fleet.tenantry("sandbox", "down").ok()
    assert not fleet.sandbox.exists()
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(fleet.sandbox) not in processes
