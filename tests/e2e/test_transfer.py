"""What changes hands without being installed again: uids of namespaces, pods and Flux objects stay, and so do Helm's revisions."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

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


def tenants(fleet: Project) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(fleet.fleet.read_text())["tenants"]
    return found


def write_tenants(fleet: Project, changed: dict[str, Any]) -> None:
    data = yaml.safe_load(fleet.fleet.read_text())
    whole = json.loads(json.dumps({**data, "tenants": changed}))  # two copies of what is there twice, and no alias
    fleet.fleet.write_text(yaml.safe_dump(whole, sort_keys=False))


def rename(fleet: Project, old: str, new: str, formerly: list[str]) -> None:
    """What a person writes to give a tenant another name."""
    found = tenants(fleet)
    write_tenants(
        fleet,
        {
            new if name == old else name: {**own, "formerly": formerly} if name == old else own
            for name, own in found.items()
        },
    )


def give(fleet: Project, old: str, new: str, formerly: list[dict[str, Any]]) -> None:
    """What a person writes to give two apps with their namespace to another tenant."""
    found = tenants(fleet)
    here, there = found[old], found[new]
    for app in ("shop", "queue"):
        there.setdefault("apps", {})[app] = here["apps"].pop(app)
    there["sources"] = {**here["sources"], **there.get("sources", {})}
    there.setdefault("namespaces", {})["shop"] = {**here["namespaces"].pop("shop"), "formerly": formerly}
    there["adopt"] = True
    write_tenants(fleet, {name: {key: each for key, each in own.items() if each != {}} for name, own in found.items()})


def test_a_tenant_gets_another_name_and_its_old_one_back(fleet: Project, hub: Cluster, edge: Cluster) -> None:
    fleet.edit('values: {host: "{tenant}.{domain}"', 'values: {host: "movy.{domain}"')
    fleet.tenantry("set", "environments.dev.protected", "true").ok()
    fleet.up().ok()
    fleet.wait("dev")
    before, installed = state(hub, edge), revision(hub)
    for old, new, formerly in (("movy", "nova", ["movy"]), ("nova", "movy", ["movy", "nova"])):
        rename(fleet, old, new, formerly)
        fleet.up().ok()
        hub.wait_stored("kamaji-edge", "edge-1-movy-baseline", "edge-1-movy-web")
        fleet.wait("dev")
        assert (owner(hub), owner(edge)) == (new, new)
        assert state(hub, edge) == before
        assert revision(hub) == installed


SHOP = """{clusters: {names: [edge-1]}, helm: {source: charts, chart: movy-web, version: 1.x, targetNamespace: shop,
storageNamespace: shop, values: {host: shop.example.com, replicas: 2}}}"""
QUEUE = "{clusters: {names: [edge-1]}, kustomize: {source: manifests, path: ./worker, targetNamespace: shop}}"
HELM = ("HelmRelease", "kamaji-edge", "edge-1-movy-shop")
QUEUED = ("Kustomization", "kamaji-edge", "edge-1-movy-queue")


def running(found: dict[str, str]) -> dict[str, str]:
    """Namespaces, pods and the objects of apps: what has to stay if nothing is installed again."""
    kept = ("HelmRelease", "Kustomization")
    return {name: uid for name, uid in found.items() if len(name.split()) == 2 or name.split()[1] in kept}


def bound(cluster: Cluster) -> set[str]:
    return set(cluster.names("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "movy-shop"))


def test_an_app_is_given_to_another_tenant_and_comes_back_with_all_else(
    fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    """A part of a tenant becomes a new tenant, and that one becomes a part of the first again."""
    fleet.tenantry("set", "environments.dev.protected", "false").ok()
    for path, value in (("namespaces.shop", "{}"), ("apps.shop", SHOP), ("apps.queue", QUEUE)):
        fleet.tenantry("set", f"tenants.movy.{path}", value).ok()
    fleet.up().ok()
    fleet.wait("dev")
    before = running(state(hub, edge))
    installed = hub.until(*HELM, lambda found: int(found["status"]["history"][0]["version"]), "a release")
    assert len([name for name in before if name.startswith("1 movy-shop/")]) == 3
    fleet.tenantry("add", "tenant", "vega").ok()
    first = {"tenant": "movy", "apps": ["shop", "queue"]}
    for old, new, formerly in (("movy", "vega", [first]), ("vega", "movy", [first, {"tenant": "vega"}])):
        give(fleet, old, new, formerly)
        fleet.up().ok()
        hub.wait_stored("kamaji-edge", "edge-1-movy-baseline", "edge-1-vega-baseline", "edge-1-movy-shop")
        fleet.wait("dev")
        after = running(state(hub, edge))
        assert before.items() <= after.items()
        assert hub.until(*HELM, lambda found: int(found["status"]["history"][0]["version"]), "a release") == installed
        assert bound(edge) == {f"{new}-reconciler-{'edit' if new == 'movy' else 'admin'}"}
        for kind in ("ResourceQuota", "LimitRange", "NetworkPolicy"):
            name = "tenantry-isolated" if kind == "NetworkPolicy" else "tenantry"
            assert (found := edge.find(kind, "movy-shop", name))
            assert found["metadata"]["labels"]["toolkit.fluxcd.io/tenant"] == new
        for kind, namespace, name in (HELM, QUEUED):
            assert (found := hub.find(kind, namespace, name))
            assert found["metadata"]["labels"]["toolkit.fluxcd.io/tenant"] == new
    fleet.tenantry("remove", "tenant", "vega").ok()
    fleet.up().ok()
    fleet.wait("dev")
    assert before.items() <= running(state(hub, edge)).items()
    assert edge.find("ResourceQuota", "movy-shop", "tenantry")
