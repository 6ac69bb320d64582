"""Names, accounts, objects and rights that the file gives a tenant, from `pulumi up` to their end, on the hub and a remote.

The tests run in order: what the first ones find is removed by the last one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.authorization_v1 import SubjectAccessReview

from tests.e2e.audit import deletions, requests_as
from tests.e2e.clusters import Cluster
from tests.e2e.project import Project, Result

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("grown")]

HOME, JOBS = "dev-home", "dev-home-jobs"
ACCOUNT = f"system:serviceaccount:{HOME}:deployer"
JOBS_ACCOUNT = f"system:serviceaccount:{JOBS}:deployer"
REMOTE_USER = f"system:serviceaccount:kamaji-edge:{HOME}"
ADDON = """\
    first:
      clusters: {all: true}
      source: {git: {url: "{git}/rocky/manifests.git", ref: {branch: main}}}
      kustomize: {path: ./db, targetNamespace: tenantry-system}
    guest:
      clusters: {all: true}
      source: {git: {url: "{git}/movy/manifests.git", ref: {branch: main}}}
      kustomize: {path: ./worker, targetNamespace: guest}
      namespaces: {guest: {}}
    release:
      clusters: {all: true}
      source: {helm: {url: "{charts}"}}
      helm: {chart: movy-web, version: 1.x, targetNamespace: release, values: {host: release, replicas: 1}}
      namespaces: {release: {}}
"""
TENANT = """
  dusty:
    namespace: "{env}-home"
    serviceAccount: {name: deployer, annotations: {example.com/role: dusty}, imagePullSecrets: [registry]}
    namespaces: {jobs: {serviceAccount: true}}
    clusterRoles:
      pv-access: {rules: [{apiGroups: [""], resources: [persistentvolumes], verbs: [create, delete, get]}]}
    objects:
      settings: {apiVersion: v1, kind: ConfigMap, data: {place: "{namespace} on {cluster}"}}
      front:
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        spec: {defaultBackend: {service: {name: worker, port: {number: 80}}}}
    dependsOn: [platform/first]
    sources:
      manifests: {git: {url: "{git}/movy/manifests.git", ref: {branch: main}}}
    apps:
      worker:
        kustomize: {source: manifests, path: ./worker}
"""


@pytest.fixture(scope="module")
def grown(sandbox: Project, original: str) -> Project:
    """The fleet with one more tenant, and an add-on that this tenant waits for, all in the first `up`."""
    sandbox.fleet.write_text(original.replace("  addons:\n", f"  addons:\n{ADDON}") + TENANT)
    sandbox.deploy("dev")
    return sandbox


def test_apps_are_applied_as_the_account_that_the_file_names(grown: Project, hub: Cluster, edge: Cluster) -> None:
    assert requests_as(grown, "hub-dev", HOME, "deployments") == {ACCOUNT}
    assert requests_as(grown, "edge-1", HOME, "deployments") == {REMOTE_USER}
    for cluster in (hub, edge):
        for namespace in (HOME, JOBS):
            account = cluster.find("ServiceAccount", namespace, "deployer")
            assert account
            assert account["metadata"]["annotations"]["example.com/role"] == "dusty"
            assert account["imagePullSecrets"] == [{"name": "registry"}]


def test_the_platforms_objects_are_in_each_namespace_before_the_app(hub: Cluster, edge: Cluster) -> None:
    for cluster, name in ((hub, "hub-dev"), (edge, "edge-1")):
        for namespace in (HOME, JOBS):
            settings = cluster.find("ConfigMap", namespace, "settings")
            assert settings
            assert settings["data"] == {"place": f"{namespace} on {name}"}
            assert created(settings) <= created(cluster.find("Deployment", HOME, "worker"))
            assert cluster.get("networking.k8s.io", "v1", "Ingress", "ingresses", "front", namespace)


def created(manifest: dict[str, Any] | None) -> str:
    """When an object was created, as the API server writes times: they sort like text."""
    assert manifest
    return str(manifest["metadata"]["creationTimestamp"])


def test_the_tenant_comes_after_the_add_on_that_it_waits_for(hub: Cluster, edge: Cluster) -> None:
    for cluster, addon in ((hub, ("tenantry-system", "first")), (edge, ("kamaji-edge", "edge-1-first"))):
        kustomization = hub.find("Kustomization", *addon)
        assert kustomization
        # A requested reconciliation moves the time of its condition, and not that of its first snapshot.
        ready = min(snapshot["firstReconciled"] for snapshot in kustomization["status"]["history"])
        assert ready <= created(cluster.find("ServiceAccount", HOME, "deployer"))


def test_a_tenant_makes_flux_objects_of_its_own_in_an_extra_namespace(
    grown: Project, hub: Cluster, tmp_path: Path
) -> None:
    refused = make(grown, tmp_path, app("none", None), app("other", "dusty"))
    assert refused.code != 0
    assert refused.text.count("ValidatingAdmissionPolicy 'tenantry-tenants'") == 2
    assert refused.text.count("a tenant's serviceAccountName") == 2
    url = "http://sandbox.test/git/movy/manifests.git"
    source = flux("own", "source", "GitRepository", {"url": url, "ref": {"branch": "main"}})
    make(grown, tmp_path, source, app("own", "deployer")).ok()
    hub.wait_ready("Kustomization", JOBS, "own")
    assert requests_as(grown, "hub-dev", JOBS, "deployments") == {JOBS_ACCOUNT}
    # A namespace in which pods still run goes 10 s later.
    hub.delete("Kustomization", JOBS, "own")


def app(name: str, account: str | None) -> dict[str, Any]:
    named = {"serviceAccountName": account} if account else {}
    reference = {"kind": "GitRepository", "name": "own"}
    spec = {"path": "./worker", "prune": True, "sourceRef": reference, "targetNamespace": JOBS, **named}
    return flux(name, "kustomize", "Kustomization", spec)


def flux(name: str, group: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": JOBS}
    api = f"{group}.toolkit.fluxcd.io/v1"
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"interval": "5m", **spec}}


def make(project: Project, directory: Path, *manifests: dict[str, Any]) -> Result:
    """Create objects as the account in the extra namespace, as a pod there could."""
    file = directory / "manifests.yaml"
    file.write_text("\n---\n".join(map(json.dumps, manifests)))
    create = ("kubectl", "create", "--filename", str(file), f"--as={JOBS_ACCOUNT}")
    return project.tenantry("sandbox", "run", "--", *create)


def test_rights_on_whole_clusters_are_those_of_the_tenants_users_alone(hub: Cluster, edge: Cluster) -> None:
    asked = [
        (hub, ACCOUNT),
        (hub, JOBS_ACCOUNT),
        (edge, REMOTE_USER),
        (edge, "system:serviceaccount:kamaji-edge:rocky"),
    ]
    assert [may_create_volumes(*each) for each in asked] == [True, True, True, False]


def may_create_volumes(cluster: Cluster, user: str) -> bool:
    return may(cluster, user, "create", "persistentvolumes")


def may(cluster: Cluster, user: str, verb: str, resource: str, namespace: str = "", group: str = "") -> bool:
    wanted = {"verb": verb, "resource": resource, "namespace": namespace, "group": group}
    review: Any = SubjectAccessReview.from_dict({"spec": {"user": user, "resourceAttributes": wanted}})
    answer = cluster.client.create(review).to_dict()
    return bool(answer["status"]["allowed"])


def test_the_platforms_objects_go_after_the_app_and_only_the_namespaces_are_left(
    grown: Project, original: str, hub: Cluster, edge: Cluster
) -> None:
    # Two namespaces of the tenant and two of add-ons, on two clusters.
    grown.pulumi("config", "set", "--stack", "dev", "tenantry:maxDeletions", "8").ok()
    grown.fleet.write_text(original)
    grown.up().ok()
    grown.pulumi("config", "rm", "--stack", "dev", "tenantry:maxDeletions").ok()
    for cluster, name in ((hub, "hub-dev"), (edge, "edge-1")):
        cluster.remove_namespaces(HOME, JOBS, "guest", "release")
        gone = deletions(grown, name, HOME)
        assert gone.index("deployments/worker") < gone.index("configmaps/settings")
        assert not [each for each in cluster.fleet_objects() if HOME in each]
        roles = ("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles")
        assert cluster.get(*roles, f"tenantry.{HOME}.pv-access") is None
