"""How tenants and clusters leave, and what keeps them from leaving by mistake: a protected environment from up to nothing."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.clusters import Cluster, cluster_of, eventually
from tests.e2e.project import Project, Result, deployed, make_project
from tests.faults.parts import frozen

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

MOVY = "\n  # Deploys new versions of its chart.\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_project(tmp_path_factory.mktemp("lifecycle") / "project")
    made.edit("    management: hub-dev\n", "    management: hub-dev\n    protected: true\n")
    with deployed(made, "dev"):
        yield made


hub = cluster_of("project", "hub-dev")
edge = cluster_of("project", "edge-1")


@contextmanager
def fleet_as(project: Project, text: str) -> Iterator[None]:
    """Another tenants.yaml for a while."""
    before = project.fleet.read_text()
    project.fleet.write_text(text)
    try:
        yield
    finally:
        project.fleet.write_text(before)


def without_tenants(project: Project) -> str:
    return project.fleet.read_text().partition("\ntenants:")[0] + "\n"


def test_a_protected_environment_loses_no_tenant_that_was_not_given_up(project: Project, hub: Cluster) -> None:
    before = hub.fleet_uids()
    with fleet_as(project, project.fleet.read_text().partition(MOVY)[0]):
        for run in (project.preview_of, project.up):
            refused = run("dev")
            assert refused.code != 0
            assert "environment 'dev' is protected, and this run would remove" in refused.text
            assert "tenant 'movy' with its apps and rights, but not its data, on edge-1, hub-dev" in refused.text
    assert hub.fleet_uids() == before


def test_an_emptied_file_is_refused_with_the_state_lost_too(project: Project, hub: Cluster) -> None:
    before = hub.fleet_uids()
    project.pulumi("stack", "rm", "dev", "--yes", "--force", "--preserve-config").ok()
    project.pulumi("stack", "init", "dev").ok()
    with fleet_as(project, without_tenants(project)):
        refused = project.up()
        assert refused.code != 0
        assert "this run would remove" in refused.text
    project.up().ok()
    assert hub.fleet_uids() == before, "a new state takes over what is there, and makes nothing anew"


def test_destroy_leaves_the_tenants_of_a_protected_environment(project: Project, hub: Cluster, edge: Cluster) -> None:
    before = {each: uid for each, uid in hub.fleet_uids().items() if each.startswith(("Kustomization", "HelmRelease"))}
    refused = project.destroy()
    assert refused.code != 0
    assert "cannot be deleted" in refused.text
    after = hub.fleet_uids()
    assert {each: after.get(each) for each in before} == before
    assert {"rocky", "movy"} <= hub.namespaces() & edge.namespaces()
    project.deploy("dev")


def test_a_decommissioned_cluster_gets_another_name_and_keeps_what_it_has(
    project: Project, hub: Cluster, edge: Cluster
) -> None:
    before = edge.fleet_uids()
    database = edge.find("StatefulSet", "rocky", "db")
    for old, new in (("edge-1", "edge-one"), ("edge-one", "edge-1")):
        project.edit(f"  {old}:\n", f"  {old}:\n    state: decommissioned\n")
        project.up().ok()
        project.edit(f"  {old}:\n    state: decommissioned\n", f"  {new}:\n")
        project.up().ok()
        project.wait("dev")
        assert not {each for each in hub.fleet_objects() if f"/{old}-" in each}
        assert edge.fleet_uids() == before
    after = edge.find("StatefulSet", "rocky", "db")
    assert database
    assert after
    assert after["metadata"]["uid"] == database["metadata"]["uid"]
    assert project.preview() == {}


def test_a_paused_cluster_is_left_as_it_is(project: Project, hub: Cluster, edge: Cluster) -> None:
    project.edit("    labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1", PAUSED)
    project.up().ok()
    path = "db/kustomization.yaml"
    text = (project.content / "git" / "rocky" / "manifests" / path).read_text()
    commit(
        project.sandbox, "rocky/manifests", {path: text + "commonAnnotations: {pushed: late}\n"}, "Push while paused"
    )
    shared = hub.shared("GitRepository", "kamaji-edge", "rocky.manifests")
    for namespace, source in (("rocky", "manifests"), ("kamaji-edge", shared)):
        hub.reconcile("GitRepository", namespace, source)
    eventually(lambda: _pushed(hub), "the push on the management cluster")
    assert not _pushed(edge)
    project.edit(PAUSED, "    labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1")
    project.up().ok()
    eventually(lambda: _pushed(edge), "the push on the cluster that is no longer paused")


PAUSED = "    labels: {tier: edge, region: eu-west}\n    state: paused\n    variables: {domain: edge-1"


def _pushed(cluster: Cluster) -> bool:
    found = cluster.find("StatefulSet", "rocky", "db")
    return bool(found) and found["metadata"].get("annotations", {}).get("pushed") == "late"


def commands_in(refused: Result) -> list[list[str]]:
    """What a refusal says to type."""
    assert refused.code != 0
    lines = (line.strip() for line in refused.text.splitlines())
    return [
        shlex.split(line)[1:] for line in lines if line.startswith(("tenantry set", "tenantry remove", "tenantry up"))
    ]


def type_in(project: Project, commands: list[list[str]]) -> None:
    for command in commands:
        if command[0] == "up":
            project.engine(*command, "--yes", "--skip-preview").ok()
        else:
            project.tenantry(*command).ok()


def with_data(cluster: Cluster, namespace: str) -> list[str]:
    """The uids of a namespace, and of data in it that is made if it is missing."""
    metadata = {"name": "data", "namespace": namespace}
    if cluster.get("", "v1", "ConfigMap", "configmaps", "data", namespace) is None:
        cluster.apply("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    there = cluster.get("", "v1", "Namespace", "namespaces", namespace)
    data = cluster.get("", "v1", "ConfigMap", "configmaps", "data", namespace)
    assert there
    assert data
    return [str(each["metadata"]["uid"]) for each in (there, data)]


# While an attempt is under way, nothing proves that it applies nothing: the next one comes after the test.
BROKEN = """
      lost: {kustomize: {source: manifests, path: ./nowhere, retryInterval: 1h}}
      typo: {helm: {source: charts, chart: no-such-chart, version: 1.x}}
"""


def test_a_change_that_never_became_ready_is_undone_by_the_file_before(project: Project, hub: Cluster) -> None:
    before, text = hub.fleet_uids(), project.fleet.read_text()
    with fleet_as(project, text.rstrip("\n") + BROKEN):
        project.up().ok()
        for kind, name in (("Kustomization", "lost"), ("HelmRelease", "typo")):
            hub.refused(kind, "movy", name)
            hub.refused(kind, "kamaji-edge", f"edge-1-movy-{name}")
    bare = project.up()
    assert bare.code != 0
    assert "pulumi state unprotect --yes --stack dev 'urn:pulumi:dev::" in bare.text
    project.engine("up", "-e", "dev", "--yes", "--skip-preview").ok()
    assert hub.fleet_uids() == before


def test_a_tenant_leaves_one_cluster_by_the_commands_of_the_refusal_and_finds_its_data_again(
    project: Project, hub: Cluster, edge: Cluster
) -> None:
    text, data = project.fleet.read_text(), with_data(edge, "movy")
    own = ("edge-1-movy", "kamaji-edge/movy")
    others = {each: uid for each, uid in hub.fleet_uids().items() if not any(name in each for name in own)}
    leave = ("set", "tenants.movy.apps.web.clusters.exclude", "[edge-1]")
    project.tenantry(*leave).ok()
    refused = project.up()
    assert "namespace 'movy' of tenant 'movy' on edge-1, which stays there with its data" in refused.text
    project.fleet.write_text(text)
    mark, up, *unmark = commands_in(refused)
    type_in(project, [mark, up])
    project.tenantry(*leave).ok()
    type_in(project, unmark)
    assert not [each for each in hub.fleet_objects() if "edge-1-movy" in each]
    assert edge.deployment("movy", "web") is None
    assert with_data(edge, "movy") == data
    assert others.items() <= hub.fleet_uids().items()
    with fleet_as(project, text.replace("  movy:\n    role", "  movy:\n    adopt: true\n    role")):
        project.engine("up", "-e", "dev", "--yes", "--skip-preview").ok()
    project.fleet.write_text(text)
    assert edge.deployment("movy", "web")
    assert with_data(edge, "movy") == data


def test_a_cluster_that_answers_is_off_boarded_and_removed_in_two_runs(
    project: Project, hub: Cluster, edge: Cluster
) -> None:
    text = project.fleet.read_text()
    with_data(edge, "rocky")
    change = ["remove", "cluster", "edge-1", "--cascade"]
    project.tenantry(*change).ok()
    refused = project.up()
    project.fleet.write_text(text)
    mark, announce, remove = commands_in(refused)
    assert mark == ["set", "clusters.edge-1.state", "removing"]
    type_in(project, [[*mark[:-1], "offboarding"], announce, change, remove])
    assert not [each for each in hub.fleet_objects() if "edge-1" in each]
    assert edge.fleet_objects() == set()
    assert not {"rocky", "movy"} & edge.namespaces()
    assert {"rocky", "movy"} <= hub.namespaces()
    project.fleet.write_text(text)
    project.engine("up", "-e", "dev", "--yes", "--skip-preview").ok()


def test_a_cluster_that_does_not_answer_is_given_up_in_two_runs(project: Project, hub: Cluster, edge: Cluster) -> None:
    kept = edge.fleet_uids()
    with frozen(project, "edge-1"):
        started = time.monotonic()
        project.edit("    labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1", GIVEN_UP)
        project.up().ok()
        project.edit(ENTRY, "")
        project.up().ok()
        assert time.monotonic() - started < BOUND
        assert not {each for each in hub.fleet_objects() if "edge-1" in each}
        assert "ready" in project.tenantry("status", "--environment", "dev", "--wait", "--timeout", "120").ok().text
    assert edge.fleet_uids() == kept, "what runs on a cluster that was given up stays as it is"


BOUND = 300
"""Seconds for both runs: half of what Pulumi would wait for a single object whose finalizer needs the cluster."""
GIVEN_UP = PAUSED.replace("paused", "decommissioned")
ENTRY = """\
  edge-1:
    environments: [dev]
    labels: {tier: edge, region: eu-west}
    state: decommissioned
    variables: {domain: edge-1.dev.example.com}
    kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji-edge}}
"""


def test_without_protection_destroy_leaves_the_namespaces(project: Project, hub: Cluster) -> None:
    project.edit("    protected: true\n", "")
    project.up().ok()
    told = project.engine("destroy", "-e", "dev", "--yes", "--skip-preview").ok().text
    assert "stay with their data: " in " ".join(told.split()), told
    assert hub.fleet_objects() == set()
    assert "rocky" in hub.namespaces()
