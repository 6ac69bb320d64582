import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tenantry.sandbox import lifecycle, process
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.status import status
from tenantry.sandbox.supervisor import Supervisor

from tests.project.sandbox.parts import new_state, sleeper


def test_parts_are_shown_by_cluster_with_what_they_use(tmp_path: Path) -> None:
    state = new_state(tmp_path / "root")
    Supervisor(state, print).ensure(sleeper(), sleeper("kwok", "hub-dev"), sleeper("etcd", "sandbox"))
    process.stop([state.running["edge-1/kwok"].process], 5)

    found = status(tmp_path / "root")

    assert [(each.owner, each.part, each.alive, each.port) for each in found.parts] == [
        ("sandbox", "etcd", True, 20001),
        ("hub-dev", "kwok", True, 20001),
        ("edge-1", "kwok", False, 20001),
    ]
    assert [each.memory > 0 for each in found.parts] == [True, True, False]
    assert [(each.name, each.management, each.alive) for each in found.clusters] == [
        ("hub-dev", True, True),
        ("edge-1", False, False),
    ]
    assert found.clusters[0].kubeconfig == str(tmp_path / "root" / "hub-dev" / "kubeconfig")
    assert not found.alive
    assert json.loads(json.dumps(asdict(found)))["environment"] == "dev"
    lifecycle.down(tmp_path / "root", print)


def test_a_directory_without_a_sandbox_has_no_status(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="there is no sandbox"):
        status(tmp_path)
