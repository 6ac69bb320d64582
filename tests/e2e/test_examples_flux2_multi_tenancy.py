"""The example flux2-multi-tenancy: a tenant whose repository holds Flux objects, and what stops it from more than its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from lightkube.core.exceptions import ApiError

from sandbox.content import commit
from tests.e2e.audit import requests_as
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project, example

pytestmark = pytest.mark.e2e

ACCOUNT = "system:serviceaccount:dev-team:dev-team"


@pytest.fixture(scope="module")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with example(tmp_path_factory.mktemp("flux2") / "project", "flux2-multi-tenancy") as made:
        made.tenantry("validate").ok()
        made.start("staging")
        made.deploy("staging")
        yield made


@pytest.fixture(scope="module")
def cluster(staging: Project) -> Iterator[Cluster]:
    with closing(Cluster(staging.kubeconfig("staging"))) as opened:
        yield opened


def runs(cluster: Cluster) -> tuple[str, int] | None:
    """The version and the ready replicas of the tenant's app."""
    found = cluster.deployment("dev-team", "podinfo")
    if not found:
        return None
    image = str(found["spec"]["template"]["spec"]["containers"][0]["image"])
    return image.rpartition(":")[2], found.get("status", {}).get("readyReplicas", 0)


def push(project: Project, cluster: Cluster, bad: str | None) -> None:
    """Put a manifest beside the tenant's own ones, or take it away again."""
    path = "staging/kustomization.yaml"
    sound = (project.content / "git" / "dev-team" / "releases" / path).read_text()
    changed = sound.replace("[../base]", "[../base, bad.yaml]") if bad else sound
    commit(project.sandbox, "dev-team/releases", {path: changed, "staging/bad.yaml": bad}, "Push")
    cluster.reconcile("GitRepository", "dev-team", "dev-team")


def test_the_tenants_own_release_is_made_as_the_tenant(staging: Project, cluster: Cluster) -> None:
    release = cluster.find("HelmRelease", "dev-team", "podinfo")
    assert release is not None
    assert release["spec"]["serviceAccountName"] == "dev-team"
    assert runs(cluster) == ("1.2.0-rc.1", 1)
    for resource in ("helmrepositories", "helmreleases", "deployments"):
        assert ACCOUNT in requests_as(staging, "staging", "dev-team", resource)
    assert requests_as(staging, "staging", "dev-team", "deployments") == {ACCOUNT}


ATTEMPTS = {
    "a source": (
        "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: bad},"
        " spec: {interval: 5m, url: 'https://git.example.org/else/where', ref: {branch: main}}}",
        "a tenant's sources lie below",
    ),
    "no account": (
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: bad},"
        " spec: {interval: 5m, prune: true, sourceRef: {kind: GitRepository, name: dev-team}}}",
        "denied request: a tenant's",  # by the example's own policy or by Tenantry's: both refuse it
    ),
    "a role": (
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: bad}, rules: []}",
        f'User "{ACCOUNT}" cannot patch resource "clusterroles"',
    ),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_repository_with_more_than_the_tenant_may_have_is_refused(
    staging: Project, cluster: Cluster, attempt: str
) -> None:
    manifest, refusal = ATTEMPTS[attempt]
    push(staging, cluster, manifest)
    cluster.refused("Kustomization", "dev-team", "dev-team", refusal)
    assert cluster.find("GitRepository", "dev-team", "bad") is None
    assert cluster.find("Kustomization", "dev-team", "bad") is None


def test_a_source_of_another_namespace_is_refused(cluster: Cluster) -> None:
    source = {"kind": "GitRepository", "name": "policies", "namespace": "tenantry-system"}
    with pytest.raises(ApiError, match="refer to objects of their own namespace only"):
        cluster.create(
            {
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": {"name": "bad", "namespace": "dev-team"},
                "spec": {"interval": "5m", "prune": True, "serviceAccountName": "dev-team", "sourceRef": source},
            }
        )


def test_an_environments_path_is_a_line_in_the_file(staging: Project, cluster: Cluster) -> None:
    push(staging, cluster, None)
    staging.edit("path: ./staging", "path: ./production")
    assert staging.preview(stack="staging") == {"Kustomization dev-team/dev-team": "update"}
    staging.deploy("staging")
    eventually(lambda: runs(cluster) == ("1.1.0", 2), "the release that production has")


def test_destroy_takes_along_what_the_tenants_own_objects_made(staging: Project, cluster: Cluster) -> None:
    staging.destroy("staging").ok()
    assert cluster.fleet_objects() == set()
    assert cluster.find("HelmRelease", "dev-team", "podinfo") is None
    assert runs(cluster) is None
    policies = ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies")
    assert cluster.get(*policies, "tenants-name-a-service-account") is None
    cluster.wait_gone("dev-team")
