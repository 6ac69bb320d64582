"""An API server or a controller goes away during the first `up` of a fleet.

Each test starts before the first `up`, and ends with a fleet that is as planned.
"""

from __future__ import annotations

import pytest
import yaml

from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import TIMEOUT, Project
from tests.faults.compare import identities, remains, settled
from tests.faults.crash import UP, forget, output, started, steps_of
from tests.faults.outage import apps, force_what_is_lost
from tests.faults.parts import API, aim, all_run, without

pytestmark = [pytest.mark.e2e, pytest.mark.faults]


@pytest.fixture
def empty(made: Project) -> Project:
    """The fleet before its first `up`."""
    return emptied(made)


def emptied(made: Project) -> Project:
    if not all_run(made):
        made.start("dev")
    if made.has_resources("dev"):
        made.destroy().ok()
    eventually(lambda: not remains(made, "dev"), "nothing to be left")
    return made


def test_the_management_clusters_api_server_restarts_during_an_up(empty: Project, hub: Cluster) -> None:
    forget(empty)  # the files before can have left other namespaces
    steps = steps_of(empty)
    end = aim(empty, "hub", API)
    with started(empty, UP, steps // 2) as (run, _):
        end()
        empty.start("dev")
        code = run.wait(TIMEOUT)
        said = output(empty)
    # The words for a connection that breaks off differ with the moment; who it led to, or who answered, is told.
    assert code == 0 or address(empty, "hub") in said or "by the Kubernetes API server" in said, said
    there = identities(empty, "dev")
    empty.pulumi(*UP).ok()
    settled(empty, "dev", meanwhile=lambda: force_what_is_lost(empty, hub))
    after = identities(empty, "dev")
    assert {key: after.get(key) for key in there} == there


def address(project: Project, cluster: str) -> str:
    """Where a cluster's API server is reached, as errors name it."""
    kubeconfig = yaml.safe_load(project.kubeconfig(cluster).read_text())
    return str(kubeconfig["clusters"][0]["cluster"]["server"])


def test_an_up_does_not_need_a_remote_clusters_api_server(empty: Project) -> None:
    with without(empty, "edge", API):
        empty.pulumi(*UP).ok()
        eventually(lambda: apps(empty, "hub") == {"ready"}, "the apps on hub")
        assert "ready" not in apps(empty, "edge")
    settled(empty, "dev")
