"""The example flux2-multi-tenancy: a tenant whose repository holds Flux objects, and what stops it from more than its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.audit import requests_as
from tests.e2e.clusters import Cluster, cluster_of, eventually
from tests.e2e.project import Project, example

pytestmark = pytest.mark.e2e

ACCOUNT = "system:serviceaccount:apps:dev-team"


@pytest.fixture(scope="module")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with example(tmp_path_factory.mktemp("flux2") / "project", "flux2-multi-tenancy") as made:
        made.tenantry("validate").ok()
        made.start("staging")
        made.deploy("staging")
        yield made


cluster = cluster_of("staging", "staging")


def runs(cluster: Cluster) -> tuple[str, int] | None:
    """The version and the ready replicas of the tenant's app."""
    found = cluster.deployment("apps", "podinfo")
    if not found:
        return None
    image = str(found["spec"]["template"]["spec"]["containers"][0]["image"])
    return image.rpartition(":")[2], found.get("status", {}).get("readyReplicas", 0)


def push(project: Project, cluster: Cluster, added: str | None, files: dict[str, str] | None = None) -> None:
    """Put a manifest beside the tenant's own ones, or take it away again."""
    path = "staging/kustomization.yaml"
    sound = (project.content / "git" / "dev-team" / "releases" / path).read_text()
    changed = sound.replace("[../base]", "[../base, added.yaml]") if added else sound
    commit(project.sandbox, "dev-team/releases", {path: changed, "staging/added.yaml": added, **(files or {})}, "Push")
    cluster.reconcile("GitRepository", "apps", "dev-team")


def test_the_tenants_own_release_is_made_as_the_tenant(staging: Project, cluster: Cluster) -> None:
    release = cluster.find("HelmRelease", "apps", "podinfo")
    assert release is not None
    assert release["spec"]["serviceAccountName"] == "dev-team"
    assert runs(cluster) == ("1.2.0-rc.1", 1)
    for resource in ("helmrepositories", "helmreleases", "deployments"):
        assert ACCOUNT in requests_as(staging, "staging", "apps", resource)
    assert requests_as(staging, "staging", "apps", "deployments") == {ACCOUNT}


def test_kyverno_comes_before_the_policies_and_these_before_the_tenant(cluster: Cluster) -> None:
    kyverno = cluster.find("HelmRelease", "tenantry-system", "kyverno")
    policies = cluster.find("Kustomization", "tenantry-system", "kyverno-policies")
    account = cluster.find("ServiceAccount", "apps", "dev-team")
    assert kyverno
    assert policies
    assert account
    assert ready_since(kyverno) <= policies["metadata"]["creationTimestamp"]
    assert ready_since(policies) <= account["metadata"]["creationTimestamp"]
    assert cluster.get("kyverno.io", "v1", "ClusterPolicy", "clusterpolicies", "tenants-fetch-from-the-organisation")


def ready_since(manifest: dict[str, Any]) -> str:
    """When an object became ready, as the API server writes times: they sort like text."""
    [ready] = [each for each in manifest["status"]["conditions"] if each["type"] == "Ready"]
    return str(ready["lastTransitionTime"])


def test_a_tenant_may_have_sources_and_kustomizations_of_its_own(staging: Project, cluster: Cluster) -> None:
    url = staging.fleet.read_text().partition('git: "')[2].partition('"')[0]
    source = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": "own"},
        "spec": {"interval": "5m", "url": f"{url}/dev-team/releases.git", "ref": {"branch": "main"}},
    }
    app = {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "own"},
        "spec": {
            "interval": "5m",
            "prune": True,
            "path": "./own",
            "serviceAccountName": "dev-team",
            "targetNamespace": "apps",
            "sourceRef": {"kind": "GitRepository", "name": "own"},
        },
    }
    push(staging, cluster, "\n---\n".join(map(json.dumps, (source, app))), {"own/settings.yaml": SETTINGS})
    cluster.until("ConfigMap", "apps", "own-settings", bool, "what the tenant's own Kustomization applies")


SETTINGS = "{apiVersion: v1, kind: ConfigMap, metadata: {name: own-settings}, data: {colour: blue}}"


def test_people_of_the_tenant_are_admins_of_its_namespace_alone(staging: Project) -> None:
    for namespace, allowed in (("apps", "yes"), ("tenantry-system", "no")):
        asked = ("auth", "can-i", "create", "deployments", "--namespace", namespace, "--as=anna", "--as-group=dev-team")
        assert staging.tenantry("sandbox", "run", "--", "kubectl", *asked).out.strip() == allowed


ELSEWHERE = (
    "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: bad},"
    " spec: {interval: 5m, url: 'https://git.example.org/else/where', ref: {branch: main}}}"
)


def test_a_repository_with_a_source_that_the_tenant_may_not_have_is_refused(staging: Project, cluster: Cluster) -> None:
    push(staging, cluster, ELSEWHERE)
    cluster.refused("Kustomization", "apps", "dev-team", "a tenant's sources lie below")
    assert cluster.find("GitRepository", "apps", "bad") is None


def test_an_environments_path_is_a_line_in_the_file(staging: Project, cluster: Cluster) -> None:
    push(staging, cluster, None)
    staging.edit("path: ./staging", "path: ./production")
    assert staging.preview(stack="staging") == {"Kustomization apps/dev-team": "update"}
    staging.deploy("staging")
    eventually(lambda: runs(cluster) == ("1.1.0", 2), "the release that production has")


def test_destroy_takes_along_what_the_tenants_own_objects_made(staging: Project, cluster: Cluster) -> None:
    staging.destroy("staging").ok()
    assert cluster.fleet_objects() == set()
    assert cluster.find("HelmRelease", "apps", "podinfo") is None
    assert runs(cluster) is None
    policies = ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies")
    assert cluster.get(*policies, "tenants-name-a-service-account") is None
    assert "apps" in cluster.namespaces()
