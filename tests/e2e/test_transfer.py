"""What changes hands without being installed again: uids of namespaces, pods and Flux objects stay, and so do Helm's revisions."""

from __future__ import annotations

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project
from tests.e2e.test_leaving import state

pytestmark = pytest.mark.e2e

RELEASE = ("HelmRelease", "kamaji-edge", "edge-1-movy-web")


def revision(hub: Cluster) -> int:
    """How often Helm has installed or upgraded the app."""
    return hub.until(*RELEASE, lambda found: int(found["status"]["history"][0]["version"]), "a release")


def owner(cluster: Cluster) -> str:
    found = cluster.get("", "v1", "Namespace", "namespaces", "movy")
    assert found
    return str(found["metadata"]["labels"]["toolkit.fluxcd.io/tenant"])


def test_a_tenant_gets_another_name_and_its_old_one_back(fleet: Project, hub: Cluster, edge: Cluster) -> None:
    fleet.edit('values: {host: "{tenant}.{domain}"', 'values: {host: "movy.{domain}"')
    fleet.tenantry("set", "environments.dev.protected", "true").ok()
    fleet.up().ok()
    fleet.wait("dev")
    before, installed = state(hub, edge), revision(hub)
    for old, new in (("movy", "nova"), ("nova", "movy")):
        fleet.tenantry("transfer", "tenant", old, new).ok()
        fleet.up().ok()
        hub.wait_stored("kamaji-edge", "edge-1-movy-baseline", "edge-1-movy-web")
        fleet.wait("dev")
        assert (owner(hub), owner(edge)) == (new, new)
        assert state(hub, edge) == before
        assert revision(hub) == installed
