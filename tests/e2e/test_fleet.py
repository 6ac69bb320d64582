"""The main job, from tenants.yaml to running apps, with everything real but the containers.

Each test starts from a fleet with both tenants. What a test changes besides, it need not change back, except for what others test.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.audit import requests_as
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("fleet")]


def test_every_app_is_ready_on_hub_and_remote(fleet: Project) -> None:
    apps = json.loads(fleet.tenantry("status", "--environment", "dev", "--output", "json").ok().out)["apps"]
    assert {(app["tenant"], app["cluster"], app["app"], app["status"]) for app in apps} == {
        (None, "edge-1", "cert-controller", "ready"),
        ("rocky", "hub-dev", "db", "ready"),
        ("rocky", "hub-dev", "web", "ready"),
        ("rocky", "edge-1", "db", "ready"),
        ("rocky", "edge-1", "web", "ready"),
        ("movy", "hub-dev", "worker", "ready"),
        ("movy", "edge-1", "web", "ready"),
    }


def test_tenants_workloads_really_run_on_the_remote_cluster(edge: Cluster) -> None:
    web, movy = edge.deployment("rocky", "web"), edge.deployment("movy", "web")
    assert web is not None
    assert movy is not None
    assert (web["status"]["readyReplicas"], movy["status"]["readyReplicas"]) == (1, 2)
    assert movy["spec"]["template"]["spec"]["containers"][0]["env"] == [
        {"name": "HOST", "value": "movy.edge-1.dev.example.com"}
    ]


def test_the_baseline_is_on_the_remote_cluster(edge: Cluster) -> None:
    namespace = edge.get("", "v1", "Namespace", "namespaces", "movy")
    binding = edge.get(
        "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "tenantry-reconciler-edit", "movy"
    )
    quota = edge.get("", "v1", "ResourceQuota", "resourcequotas", "tenantry", "movy")
    assert namespace is not None
    assert namespace["metadata"]["labels"]["toolkit.fluxcd.io/tenant"] == "movy"
    assert binding is not None
    assert binding["roleRef"]["name"] == "edit"
    assert [subject["name"] for subject in binding["subjects"]] == ["system:serviceaccount:kamaji-edge:movy"]
    assert quota is not None
    assert quota["spec"]["hard"] == {"pods": "60", "requests.cpu": "8", "requests.memory": "16Gi"}


@pytest.mark.parametrize(
    ("cluster", "namespace", "user"),
    [
        ("hub-dev", "rocky", "system:serviceaccount:rocky:rocky"),
        ("hub-dev", "movy", "system:serviceaccount:movy:movy"),
        ("edge-1", "rocky", "system:serviceaccount:kamaji-edge:rocky"),
        ("edge-1", "movy", "system:serviceaccount:kamaji-edge:movy"),
    ],
)
def test_workloads_were_applied_as_the_tenants_own_user(
    fleet: Project, cluster: str, namespace: str, user: str
) -> None:
    assert requests_as(fleet, cluster, namespace, "deployments") == {user}


def test_the_stack_tells_what_it_made(fleet: Project) -> None:
    command = ("sandbox", "run", "--", "pulumi", "stack", "output", "--stack", "dev", "--json")
    outputs = json.loads(fleet.tenantry(*command).ok().out)
    movy = outputs["tenants"]["movy"]
    assert {key: movy[key] for key in ("apps", "clusters", "namespaces")} == {
        "apps": ["web", "worker"],
        "clusters": ["edge-1", "hub-dev"],
        "namespaces": ["movy"],
    }
    assert movy["objects"] == len([each for each in fleet_manifests(fleet) if "toolkit.fluxcd.io/tenant: movy" in each])


def fleet_manifests(project: Project) -> list[str]:
    return project.tenantry("render", "--environment", "dev").ok().out.split("---\n")[1:]


def test_a_second_sandbox_up_changes_nothing(fleet: Project) -> None:
    before = fleet.parts()
    fleet.start("dev")
    assert fleet.parts() == before


def test_an_edit_changes_just_what_it_names(fleet: Project, edge: Cluster) -> None:
    fleet.edit('values: {host: "{tenant}.{domain}", replicas: 2}', 'values: {host: "{tenant}.{domain}", replicas: 3}')
    assert fleet.preview() == {"HelmRelease kamaji-edge/edge-1-movy-web": "update"}
    fleet.up().ok()
    edge.wait_scaled("movy", "web", 3)


def test_a_push_to_a_tenants_repository_is_rolled_out(fleet: Project, hub: Cluster) -> None:
    path = "worker/kustomization.yaml"
    text = (fleet.content / "git" / "movy" / "manifests" / path).read_text()
    commit(fleet.sandbox, "movy/manifests", {path: text + "replicas: [{name: worker, count: 2}]\n"}, "Scale the worker")
    reconcile(hub, "movy", "manifests")
    hub.wait_scaled("movy", "worker", 2)


def test_a_suspension_by_hand_is_kept_and_told_with_the_line_that_ends_it(fleet: Project, hub: Cluster) -> None:
    """Nothing else is changed by a run of the same file either."""
    hub.patch(*RELEASE, {"spec": {"suspend": True}})
    try:
        fleet.up("dev", "--refresh", "--expect-no-changes").ok()
        status = fleet.tenantry("status", "-e", "dev", "--tenant", "movy", "--app", "web", "-o", "json")
        (movy,) = json.loads(status.out)["apps"]
        assert (status.code, movy["status"], movy["suspendedByHand"]) == (1, "suspended", True)
        line = "flux resume helmrelease edge-1-movy-web --namespace kamaji-edge"
        assert movy["message"] == f"suspended by hand, not in the file: {line}"
        assert f"{line} --kubeconfig " in fleet.tenantry("why", "movy/web", "-e", "dev").out
    finally:
        hub.patch(*RELEASE, {"spec": {"suspend": None}})


RELEASE = ("HelmRelease", "kamaji-edge", "edge-1-movy-web")


RECONCILE = "reconcile.fluxcd.io/requestedAt"


def reconcile(
    hub: Cluster, namespace: str, source: str, kind: str = "GitRepository", plural: str = "gitrepositories"
) -> None:
    """Have Flux fetch now, as `flux reconcile source` does."""
    hub.annotate("source.toolkit.fluxcd.io", "v1", kind, plural, source, namespace, RECONCILE)


def test_a_role_and_owners_and_a_second_namespace_reach_every_cluster(
    fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    extra = "    owners: [{group: team-movy}]\n    namespaces: {jobs: {quota: {pods: 5}}}\n"
    fleet.edit("    quota: {pods: 60}\n", f"    quota: {{pods: 60}}\n{extra}")
    fleet.edit("    role: edit\n", "    role: admin\n")
    previewed = fleet.preview()
    assert {name: each for name, each in previewed.items() if "tenantry-reconciler" in name and "jobs" not in name} == {
        "RoleBinding movy/tenantry-reconciler-admin": "create",
        "RoleBinding movy/tenantry-reconciler-edit": "delete",
    }
    fleet.up().ok()
    assert _roles(hub)["tenantry-reconciler-admin"] == "admin"
    assert "tenantry-reconciler-edit" not in _roles(hub)
    eventually(lambda: _roles(edge) == _roles(hub), "movy's new role on edge-1")
    for cluster in (hub, edge):
        quota = cluster.until("ResourceQuota", "movy-jobs", "tenantry", itself, "movy's second namespace")
        assert quota["spec"]["hard"]["pods"] == "5"
        for namespace in ("movy", "movy-jobs"):
            what = f"the owners' binding in {namespace}"
            binding = cluster.until("RoleBinding", namespace, "tenantry-owners-view", itself, what)
            assert [each["name"] for each in binding["subjects"]] == ["team-movy"]


def _roles(cluster: Cluster) -> dict[str, str]:
    """Role by name of each of the fleet's bindings for movy's service account."""
    names = [each.split("/")[1] for each in cluster.fleet_objects() if each.startswith("RoleBinding movy/")]
    group = "rbac.authorization.k8s.io"
    found = {name: cluster.get(group, "v1", "RoleBinding", "rolebindings", name, "movy") for name in names}
    return {name: binding["roleRef"]["name"] for name, binding in found.items() if binding}


def itself(manifest: dict[str, Any]) -> dict[str, Any]:
    return manifest


def test_removing_a_tenant_leaves_nothing_of_it_and_all_of_the_others(
    fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    others = {each for each in hub.fleet_objects() | edge.fleet_objects() if "movy" not in each}
    fleet.tenantry("set", "tenants.movy.state", "offboarding").ok()
    fleet.up().ok()
    hub.wait_stored("kamaji-edge", "edge-1-movy-baseline")
    text = fleet.fleet.read_text()
    movy = text[text.index("  # Deploys new versions of its chart.") :]
    fleet.edit(movy, "")
    operations = fleet.preview()
    assert set(operations.values()) == {"delete"}
    assert all("movy" in name for name in operations)
    fleet.engine("up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight", "--no-wait").ok()
    assert not {each for each in hub.fleet_objects() | edge.fleet_objects() if "movy" in each}
    assert others == hub.fleet_objects() | edge.fleet_objects()
    for cluster in (hub, edge):
        cluster.wait_gone("movy", "movy-jobs")
