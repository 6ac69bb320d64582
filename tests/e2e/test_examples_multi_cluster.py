"""The example multi-cluster with the cluster, the tenant and the app of its workflows, on real clusters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.audit import requests_as
from tests.e2e.clusters import Cluster, cluster_of
from tests.e2e.project import Project, example
from tests.workflows import workflows

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The example with its environment dev up, and the remote cluster, the tenant and the app of workflows 3, 5 and 6."""
    with example(tmp_path_factory.mktemp("multi-cluster"), "multi-cluster") as project:
        documented = workflows((project.root / "workflows.md").read_text())
        for number in (3, 5, 6):
            project.fleet.write_text(documented[number].apply(project.fleet.read_text()))
        project.start("dev")
        project.deploy("dev")
        yield project


america = cluster_of("dev", "america")
south = cluster_of("dev", "america-south")


def variable(cluster: Cluster, namespace: str, name: str) -> str:
    found = cluster.deployment(namespace, name)
    assert found is not None
    value: str = found["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"]
    return value


def test_every_app_is_on_every_cluster_as_that_cluster_wants_it(america: Cluster, south: Cluster) -> None:
    assert [each.ready("Deployment", "dev-kaizentm", "azure-vote") for each in (america, south)] == [2, 1]
    assert variable(south, "dev-kaizentm", "azure-vote") == "redis.dev-redis"
    votes = [variable(each, "dev-yakuza", "katana-vote") for each in (america, south)]
    assert votes == ["cats or dogs", "llamas or condors"]
    ports = [each.get("", "v1", "Service", "services", "nginx", "nginx") for each in (america, south)]
    assert [service and service["spec"]["ports"][0]["port"] for service in ports] == [8080, 80]
    redis = [each.deployment("dev-redis", "redis") for each in (america, south)]
    memory = [each and each["spec"]["template"]["spec"]["containers"][0]["args"][1] for each in redis]
    assert memory == ["256mb", "64mb"]


def test_the_namespaces_of_an_environment_are_on_every_cluster(america: Cluster, south: Cluster) -> None:
    shared = {"nginx", "dev-redis", "dev-kaizentm", "dev-yakuza"}
    assert {*shared, "flux-system"} <= america.namespaces()
    assert shared <= south.namespaces()
    assert "flux-system" not in south.namespaces()


def test_a_remote_cluster_is_added_as_documented(dev: Project) -> None:
    with closing(Cluster(dev.kubeconfig("america-north"))) as north:
        assert variable(north, "dev-yakuza", "katana-vote") == "bears or wolves"
        assert north.ready("Deployment", "dev-kaizentm", "results") == 1
        assert north.ready("Deployment", "nginx", "nginx") == 1
        assert "flux-system" not in north.namespaces()


def test_a_tenant_and_an_app_are_added_as_documented(dev: Project, america: Cluster, south: Cluster) -> None:
    for cluster in (america, south):
        assert cluster.ready("Deployment", "dev-ronin", "bow") == 1
        assert cluster.ready("Deployment", "dev-kaizentm", "results") == 1
    assert requests_as(dev, "america-south", "dev-ronin", "deployments") == {"system:serviceaccount:clusters:dev-ronin"}
