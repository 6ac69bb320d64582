"""The example of Kamaji's guide: add-ons on tenant control planes, from the administrator's cluster alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project, example

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def kamaji(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with example(tmp_path_factory.mktemp("kamaji") / "project", "kamaji") as made:
        made.tenantry("validate").ok()
        made.start("admin")
        made.deploy("admin")
        yield made


@dataclass(frozen=True, slots=True)
class Clusters:
    admin: Cluster
    tenant1: Cluster
    tenant2: Cluster


@pytest.fixture(scope="module")
def clusters(kamaji: Project) -> Iterator[Clusters]:
    with ExitStack() as opened:
        names = ("admin", "tenant1", "tenant2")
        made = {name: opened.enter_context(closing(Cluster(kamaji.kubeconfig(name)))) for name in names}
        yield Clusters(**made)


def test_add_ons_are_ready_where_labels_choose_them(kamaji: Project) -> None:
    apps = json.loads(kamaji.tenantry("status", "--environment", "admin", "--output", "json").ok().out)["apps"]
    assert {
        (app["cluster"], app["id"]["kind"], f"{app['id']['namespace']}/{app['id']['name']}", app["status"])
        for app in apps
    } == {
        ("tenant1", "HelmRelease", "tenants/tenant1-cert-manager", "ready"),
        ("tenant2", "HelmRelease", "tenants/tenant2-cert-manager", "ready"),
        ("tenant2", "Kustomization", "tenants/tenant2-log-agent", "ready"),
        ("tenant1", "Kustomization", "tenants/tenant1-policies", "ready"),
        ("tenant2", "Kustomization", "tenants/tenant2-policies", "ready"),
    }


@pytest.mark.parametrize("tenant", ["tenant1", "tenant2"])
def test_flux_uses_the_kubeconfig_that_kamaji_wrote_and_not_as_its_administrator(
    clusters: Clusters, tenant: str
) -> None:
    release = clusters.admin.find("HelmRelease", "tenants", f"{tenant}-cert-manager")
    assert release
    assert release["spec"]["kubeConfig"] == {"secretRef": {"name": f"{tenant}-admin-kubeconfig", "key": "admin.conf"}}
    assert release["spec"]["serviceAccountName"] == "tenantry-platform"


def test_cert_manager_runs_on_the_tenants_clusters_with_values_of_their_own(clusters: Clusters) -> None:
    assert running(clusters.tenant1, "tenant1") == [2, 1, 1]
    assert running(clusters.tenant2, "tenant2") == [3, 1, 2]
    for name, tenant in (("tenant1", clusters.tenant1), ("tenant2", clusters.tenant2)):
        assert tenant.find("ServiceAccount", "default", f"{name}-cert-manager")
        assert definition(tenant)


def running(cluster: Cluster, name: str) -> list[int | None]:
    """Ready replicas of cert-manager's three parts, under the names of the guide's output."""
    return [cluster.ready("Deployment", "default", f"{name}-cert-manager{part}") for part in PARTS]


PARTS = ("", "-cainjector", "-webhook")


def definition(cluster: Cluster) -> dict[str, Any] | None:
    group, kind, plural = "apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions"
    return cluster.get(group, "v1", kind, plural, "certificates.stand-in.example.com")


def test_the_release_has_the_guides_intervals(clusters: Clusters) -> None:
    release = clusters.admin.find("HelmRelease", "tenants", "tenant1-cert-manager")
    assert release
    assert release["apiVersion"] == "helm.toolkit.fluxcd.io/v2"
    chart = clusters.admin.find("HelmChart", "tenants", release["spec"]["chartRef"]["name"])
    assert chart
    repository = clusters.admin.find("HelmRepository", "tenants", chart["spec"]["sourceRef"]["name"])
    assert repository
    intervals = [each["spec"]["interval"] for each in (release, chart, repository)]
    assert intervals == ["5m", "1m", "1m"]


def test_the_guides_commands_print_what_the_guide_shows(kamaji: Project) -> None:
    secret = ("get", "secret", "-n", "tenants", "tenant1-admin-kubeconfig", "-o", r"jsonpath={.data.admin\.conf}")
    kubeconfig = kamaji.root / "tenant-1.kubeconfig"
    kubeconfig.write_bytes(base64.b64decode(kubectl(kamaji, *secret)))
    printed = kubectl(kamaji, "--kubeconfig", str(kubeconfig), "get", "deploy", "-n", "default").splitlines()
    assert [line.split()[:4] for line in printed[1:]] == [
        ["tenant1-cert-manager", "2/2", "2", "2"],
        ["tenant1-cert-manager-cainjector", "1/1", "1", "1"],
        ["tenant1-cert-manager-webhook", "1/1", "1", "1"],
    ]


def kubectl(project: Project, *arguments: str) -> str:
    return project.tenantry("sandbox", "run", "--", "kubectl", *arguments).ok().out


def test_the_agent_knows_the_cluster_it_runs_on(clusters: Clusters) -> None:
    agent = clusters.tenant2.find("DaemonSet", "log-agent", "log-agent")
    assert agent
    assert agent["status"]["numberReady"] == 2
    assert agent["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "CLUSTER", "value": "tenant2"}]
    assert clusters.tenant1.find("DaemonSet", "log-agent", "log-agent") is None


def test_a_policy_holds_on_the_tenants_clusters(kamaji: Project) -> None:
    pod = ("run", "intruder", "--image=registry.example.com/any", "--dry-run=server")
    on_the_nodes_network = '--overrides={"spec": {"hostNetwork": true}}'
    for cluster in ("tenant1", "tenant2"):
        command = ("sandbox", "run", "--cluster", cluster, "--", "kubectl", *pod)
        refused = kamaji.tenantry(*command, on_the_nodes_network)
        assert "pods may not use the network of the node" in refused.text
        kamaji.tenantry(*command).ok()


def test_nothing_of_flux_or_of_the_add_ons_is_where_it_should_not_be(clusters: Clusters) -> None:
    assert "log-agent" not in clusters.admin.namespaces()
    assert running(clusters.admin, "tenant1") == [None, None, None]
    for tenant in (clusters.tenant1, clusters.tenant2):
        assert not {"flux-system", "tenants"} & tenant.namespaces()


def test_what_a_tenant_breaks_on_its_cluster_is_put_back(clusters: Clusters) -> None:
    # Replicas are left to autoscalers.
    for name in ("webhook", "cainjector"):
        clusters.tenant1.delete("Deployment", "default", f"tenant1-cert-manager-{name}")
    clusters.admin.reconcile("HelmRelease", "tenants", "tenant1-cert-manager")
    eventually(lambda: running(clusters.tenant1, "tenant1") == [2, 1, 1], "cert-manager to be whole again on tenant1")


def test_a_label_brings_an_add_on_to_a_cluster(kamaji: Project, clusters: Clusters) -> None:
    kamaji.edit(
        "labels: {certificates: managed}\n    kube", "labels: {certificates: managed, logs: collected}\n    kube"
    )
    # The source is there for tenant2 already.
    assert kamaji.preview(stack="admin") == {"Kustomization tenants/tenant1-log-agent": "create"}
    kamaji.deploy("admin")
    assert clusters.tenant1.find("DaemonSet", "log-agent", "log-agent")


def test_destroy_leaves_nothing_on_any_cluster(kamaji: Project, clusters: Clusters) -> None:
    kamaji.offboard("admin").ok()
    assert clusters.admin.fleet_objects() == set()
    for name, tenant in (("tenant1", clusters.tenant1), ("tenant2", clusters.tenant2)):
        assert running(tenant, name) == [None, None, None]
        eventually(lambda tenant=tenant: not definition(tenant), "the chart's CRD to be gone")
        tenant.wait_gone("log-agent")
