"""Data outlives objects: namespaces stay on every cluster until they are off-boarded, and nobody else gets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project
from tests.faults.compare import settled

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

ROCKY, MOVY = "  rocky:\n", "  movy:\n    owners"
TINA = """
  tina:
    namespace: movy
    clusters: {names: [edge]}
    sources:
      manifests: {git: {url: "http://{host}/git/movy/manifests.git", ref: {branch: main}}}
    apps:
      jobs: {kustomize: {source: manifests, path: ./jobs}}
"""


@pytest.fixture(scope="module")
def project(calm: Project) -> Project:
    return calm


@pytest.fixture(scope="module")
def clusters(project: Project) -> Iterator[dict[str, Cluster]]:
    with closing(Cluster(project.kubeconfig("hub"))) as hub, closing(Cluster(project.kubeconfig("edge"))) as edge:
        found = {"hub": hub, "edge": edge}
        for each in found.values():
            for namespace in ("rocky", "movy"):
                for kind, plural, spec in DATA:
                    metadata = {"name": "data", "namespace": namespace}
                    each.apply(plural, {"apiVersion": "v1", "kind": kind, "metadata": metadata, **spec})
        yield found


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
DATA: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("ConfigMap", "configmaps", {"data": {"of": "the tenant"}}),
    ("PersistentVolumeClaim", "persistentvolumeclaims", {"spec": CLAIM}),
)


def uids(clusters: dict[str, Cluster], namespace: str, *names: str) -> dict[tuple[str, str], str]:
    """The uids of a namespace and of the data in it, by cluster and kind; "" for what is gone."""
    found = {}
    for name in names or clusters:
        get = clusters[name].get
        there = {"Namespace": get("", "v1", "Namespace", "namespaces", namespace)}
        there |= {kind: get("", "v1", kind, plural, "data", namespace) for kind, plural, _ in DATA}
        found |= {(name, kind): each["metadata"]["uid"] if each else "" for kind, each in there.items()}
    return found


def record(clusters: dict[str, Cluster]) -> list[tuple[str, str, str]]:
    claim = clusters["hub"].find("ConfigMap", "tenantry-system", "tenantry-dev")
    assert claim
    entries = json.loads(claim["data"].get("kept", "[]"))
    return [(each["cluster"], each["namespace"], each["tenant"]) for each in entries]


def refused(project: Project, *words: str) -> None:
    run = project.up()
    assert run.code != 0
    assert [each for each in words if each not in " ".join(run.text.split())] == [], run.text


def without_movy(project: Project) -> str:
    """The entry of tenant movy, which is the last, taken out of the file."""
    before, _, entry = project.fleet.read_text().partition("  movy:\n")
    project.fleet.write_text(before)
    return f"  movy:\n{entry}"


def test_a_baseline_that_is_deleted_by_hand_leaves_the_namespace_and_its_data(
    project: Project, clusters: dict[str, Cluster]
) -> None:
    before = uids(clusters, "rocky")
    hub = clusters["hub"]
    hub.delete("HelmRelease", "clusters", "edge-rocky-baseline")
    eventually(lambda: not hub.find("HelmRelease", "clusters", "edge-rocky-baseline"), "the release to be deleted")
    assert uids(clusters, "rocky") == before
    project.up("dev", "--refresh").ok()
    hub.wait_ready("HelmRelease", "clusters", "edge-rocky-baseline")
    assert uids(clusters, "rocky") == before


def test_a_stack_without_marks_gets_them_before_anything_is_left(
    project: Project, clusters: dict[str, Cluster]
) -> None:
    """As an older version has left it: Pulumi would delete the namespaces."""
    before, file = uids(clusters, "movy"), project.root / "state.json"
    project.pulumi("stack", "export", "--stack", "dev", "--file", str(file)).ok()
    document = json.loads(file.read_text())
    marked = [each for each in document["deployment"]["resources"] if each.pop("retainOnDelete", False)]
    assert {each["urn"].rpartition("::")[2] for each in marked} == {"rocky", "movy"}
    file.write_text(json.dumps(document))
    project.pulumi("stack", "import", "--stack", "dev", "--file", str(file)).ok()
    text = project.fleet.read_text()
    without_movy(project)
    refused(project, "objects that Pulumi does not keep yet", "Namespace movy", "run `tenantry up`, which marks them")
    project.fleet.write_text(text)
    project.up().ok()
    project.pulumi("stack", "export", "--stack", "dev", "--file", str(file)).ok()
    again = [each for each in json.loads(file.read_text())["deployment"]["resources"] if each.get("retainOnDelete")]
    assert {each["urn"] for each in again} == {each["urn"] for each in marked}
    assert uids(clusters, "movy") == before


def test_a_tenant_that_is_removed_leaves_its_data_and_only_the_tenant_itself_gets_it_back(
    project: Project, clusters: dict[str, Cluster]
) -> None:
    before = uids(clusters, "movy")
    entry = without_movy(project)
    project.up().ok()
    assert uids(clusters, "movy") == before
    assert record(clusters) == [("edge", "movy", "movy"), ("hub", "movy", "movy")]
    assert not {each for each in clusters["hub"].fleet_objects() if "movy" in each}
    status = " ".join(project.tenantry("status", "-e", "dev").ok().text.split())
    assert "2 namespaces of environment 'dev' hold data and are no longer in the file: 'movy' on edge" in status
    assert "not in the file: " not in status
    project.up().ok()
    assert record(clusters) == [("edge", "movy", "movy"), ("hub", "movy", "movy")]
    kept = project.fleet.read_text()
    project.fleet.write_text(kept + TINA)
    refused(project, "namespace 'movy' on edge holds the data of tenant 'movy'", "tenant 'tina' would get it")
    assert not {each for each in clusters["hub"].fleet_objects() if "tina" in each}
    assert uids(clusters, "movy") == before
    assert record(clusters) == [("edge", "movy", "movy"), ("hub", "movy", "movy")]
    project.fleet.write_text(kept + entry)
    refused(project, "holds the data of tenant 'movy'", "tenantry set tenants.movy.adopt true")
    project.tenantry("set", "tenants.movy.adopt", "true").ok()
    project.up().ok()
    settled(project, "dev")
    assert uids(clusters, "movy") == before
    assert record(clusters) == []


def test_kept_data_goes_without_the_apps_that_wrote_it(project: Project, clusters: dict[str, Cluster]) -> None:
    entry = without_movy(project)
    project.up().ok()
    kept = project.fleet.read_text()
    assert ("edge", "movy", "movy") in record(clusters)
    project.fleet.write_text(f"{kept}  movy: {{clusters: {{all: true}}, adopt: true, state: offboarding}}\n")
    project.up().ok()
    clusters["hub"].wait_stored("clusters", "edge-movy-baseline")
    project.fleet.write_text(kept)
    project.up().ok()
    for cluster in clusters.values():
        cluster.wait_gone("movy")
    assert not [each for each in record(clusters) if each[2] == "movy"]
    project.fleet.write_text(kept + entry)
    project.up().ok()
    settled(project, "dev")


def test_without_its_record_the_chart_refuses_a_namespace_of_another_tenant(
    project: Project, clusters: dict[str, Cluster]
) -> None:
    hub, before = clusters["hub"], uids(clusters, "movy")
    without_movy(project)
    project.up().ok()
    hub.patch("ConfigMap", "tenantry-system", "tenantry-dev", {"data": {"kept": None}})
    kept = project.fleet.read_text()
    project.fleet.write_text(kept + TINA)
    project.up().ok()
    words = "namespace 'movy' holds the data of tenant 'movy' and is not for tenant 'tina'"
    hub.refused("HelmRelease", "clusters", "edge-movy-baseline", words)
    project.fleet.write_text(kept)
    project.up().ok()
    assert uids(clusters, "movy") == before
    assert record(clusters) == [("hub", "movy", "movy")], "what was never installed leaves nothing"
