"""The end of a fleet and of its sandbox."""

from __future__ import annotations

import socket
import subprocess

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e


STAYED = {"ci", "extra", "nora"}
"""What other files' tests on this fleet took away without off-boarding, whose namespaces stay: test_order's add-on and
test_failing's tenant; and the namespace of the account that runs test_fleet."""


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


def test_a_taken_port_is_named(fleet: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        text = fleet.fleet.read_text().replace(f":{fleet.port}/", f":{port}/")
        other = tmp_path_factory.mktemp("other")
        (other / "tenants.yaml").write_text(text)
        result = fleet.tenantry(
            "--file", str(other / "tenants.yaml"), "sandbox", "up", "--root", str(other / "sandbox")
        )
    assert result.code == 2
    assert str(port) in result.text
    assert not (other / "sandbox").exists()


def test_down_leaves_no_process_and_no_file(fleet: Project) -> None:
    fleet.tenantry("sandbox", "down").ok()
    assert not fleet.sandbox.exists()
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(fleet.sandbox) not in processes
