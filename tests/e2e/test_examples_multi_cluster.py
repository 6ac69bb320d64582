"""The example multi-cluster: its nine workflows on real clusters, and environments that share them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.audit import requests_as
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project, example
from tests.workflows import workflows

pytestmark = pytest.mark.e2e

RELEASE = "dev-1-0-x"


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The example with its environment dev up."""
    with example(tmp_path_factory.mktemp("multi-cluster"), "multi-cluster") as project:
        project.start("dev")
        project.deploy("dev")
        yield project


@pytest.fixture(scope="module")
def grown(dev: Project) -> Project:
    """The environment with the remote cluster, the tenant and the app of workflows 3, 5 and 6."""
    follow(dev, 3, 5, 6)
    dev.start("dev")
    dev.deploy("dev")
    return dev


@dataclass(frozen=True, slots=True)
class Released:
    """before: the fleet's objects without the release environment, which is up beside its model."""

    project: Project
    before: dict[str, str]


@pytest.fixture(scope="module")
def released(grown: Project, america: Cluster, south: Cluster) -> Released:
    """The release environment of workflow 8."""
    before = snapshot(america, south)
    cut(grown, "kaizentm/manifests", "release/1-0-x")
    follow(grown, 8)
    grown.start("dev")
    grown.pulumi("stack", "init", RELEASE, "--copy-config-from", "dev").ok()
    grown.deploy(RELEASE)
    return Released(grown, before)


@pytest.fixture(scope="module")
def america(dev: Project) -> Iterator[Cluster]:
    with closing(Cluster(dev.kubeconfig("america"))) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def south(dev: Project) -> Iterator[Cluster]:
    with closing(Cluster(dev.kubeconfig("america-south"))) as cluster:
        yield cluster


def follow(project: Project, *numbers: int) -> None:
    """Make the edits of documented workflows."""
    documented = workflows((project.root / "workflows.md").read_text())
    for number in numbers:
        project.fleet.write_text(documented[number].apply(project.fleet.read_text()))


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


def test_a_remote_cluster_is_added_as_documented(grown: Project) -> None:
    with closing(Cluster(grown.kubeconfig("america-north"))) as north:
        assert variable(north, "dev-yakuza", "katana-vote") == "bears or wolves"
        assert north.ready("Deployment", "dev-kaizentm", "results") == 1
        assert north.ready("Deployment", "nginx", "nginx") == 1
        assert "flux-system" not in north.namespaces()


def test_a_tenant_and_an_app_are_added_as_documented(grown: Project, america: Cluster, south: Cluster) -> None:
    for cluster in (america, south):
        assert cluster.ready("Deployment", "dev-ronin", "bow") == 1
        assert cluster.ready("Deployment", "dev-kaizentm", "results") == 1
    assert requests_as(grown, "america-south", "dev-ronin", "deployments") == {
        "system:serviceaccount:clusters:dev-ronin"
    }


def test_a_release_environment_stands_beside_its_model(released: Released, america: Cluster, south: Cluster) -> None:
    for cluster in (america, south):
        made = {each for each in cluster.namespaces() if each.startswith(RELEASE)}
        assert made == {f"{RELEASE}-redis", f"{RELEASE}-kaizentm"}
    of_release = snapshot(america, south, environment=RELEASE)
    assert of_release
    assert snapshot(america, south) == {**released.before, **of_release}
    assert released.project.preview() == {}


def test_a_stack_does_not_become_the_other_environment(released: Released, america: Cluster, south: Cluster) -> None:
    dev, before = released.project, snapshot(america, south)
    dev.pulumi("config", "set", "--stack", "dev", "tenantry:environment", RELEASE).ok()
    refused = dev.up()
    dev.pulumi("config", "rm", "--stack", "dev", "tenantry:environment").ok()
    assert refused.code != 0
    assert "runs environment 'dev', and would delete all of it for 'dev-1-0-x'" in refused.text
    assert snapshot(america, south) == before


def cut(project: Project, repository: str, branch: str) -> None:
    """Begin a branch at the tip of main."""
    path = project.sandbox / "git" / f"{repository}.git"
    subprocess.run(["git", "--git-dir", str(path), "branch", branch, "main"], check=True)


def snapshot(*clusters: Cluster, environment: str | None = None) -> dict[str, str]:
    """The objects of an environment or of all, by cluster and name, with what tells a new one of the same name apart."""
    found = [each.fleet_uids(environment) for each in clusters]
    return {f"{number} {name}": uid for number, uids in enumerate(found) for name, uid in uids.items()}


def test_what_is_pushed_to_main_reaches_dev_and_not_the_release(
    released: Released, south: Cluster, america: Cluster
) -> None:
    dev = released.project
    path = "azure-vote/america-south/kustomization.yaml"
    text = (dev.content / "git" / "kaizentm" / "manifests" / path).read_text()
    commit(dev.sandbox, "kaizentm/manifests", {path: text.replace("count: 1", "count: 3")}, "Scale")
    for environment in ("dev", RELEASE):
        source = america.shared("GitRepository", "clusters", f"{environment}-kaizentm.manifests")
        america.reconcile("GitRepository", "clusters", source)
    south.wait_scaled("dev-kaizentm", "azure-vote", 3)
    assert south.ready("Deployment", f"{RELEASE}-kaizentm", "azure-vote") == 1


def test_removing_a_release_environment_leaves_its_model_as_it_was(
    released: Released, america: Cluster, south: Cluster
) -> None:
    dev, of_dev = released.project, snapshot(america, south, environment="dev")
    dev.offboard(RELEASE).ok()
    dev.pulumi("stack", "rm", RELEASE, "--yes").ok()
    follow(dev, 9)
    assert snapshot(america, south) == of_dev
    for cluster in (america, south):
        eventually(
            lambda cluster=cluster: not any(RELEASE in each for each in cluster.namespaces()), "the namespaces to go"
        )
    assert dev.preview() == {}
    apps = json.loads(dev.tenantry("status", "--environment", "dev", "--output", "json").ok().out)["apps"]
    assert {app["status"] for app in apps} == {"ready"}


def test_a_cluster_taken_out_of_the_environment_keeps_nothing_of_it(
    grown: Project, america: Cluster, south: Cluster
) -> None:
    dev, before = grown, snapshot(america)
    data = {each for each in south.namespaces() if each.startswith("dev-")}
    follow(dev, 4)
    refused = dev.up()
    assert "namespaces; the limit for 'dev' is 3 (maxDeletions)" in refused.text
    dev.pulumi("config", "set", "--stack", "dev", "tenantry:maxDeletions", "10").ok()
    dev.up().ok()
    assert snapshot(south) == {}
    assert south.deployment("nginx", "nginx") is None
    assert {each for each in south.namespaces() if each.startswith("dev-")} == data
    gone = before.keys() - snapshot(america).keys()
    assert gone
    assert all(" clusters/america-south-" in each for each in gone)
    assert america.get("", "v1", "Secret", "secrets", "america-south-kubeconfig", "clusters") is not None
