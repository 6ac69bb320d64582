"""What apps wait for after the import: what a Kustomization hands over, and nothing that is left over."""

from __future__ import annotations

from typing import Any

import yaml

from tenantry.importing.documents import Document, document_of
from tenantry.importing.drafting import drafted
from tenantry.importing.resources import Reading, inventory

APPLIED = {"kustomize.toolkit.fluxcd.io/name": "infra", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
REDIS = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: redis, namespace: flux-system}
spec: {interval: 1h, url: "https://charts.example.com"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: redis, namespace: flux-system}
spec: {interval: 5m, chart: {spec: {chart: redis, version: 1.x, sourceRef: {kind: HelmRepository, name: redis}}}}
"""
SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/fleet", ref: {branch: main}}
"""


def kustomization(name: str, *waits_for: str, **spec: Any) -> dict[str, Any]:
    wanted = [{"name": each} for each in waits_for]
    source = {"kind": "GitRepository", "name": "fleet"}
    spec = {"interval": "5m", "path": f"./{name}", "prune": True, "sourceRef": source, "dependsOn": wanted, **spec}
    metadata = {"name": name, "namespace": "flux-system"}
    return {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata, "spec": spec}


def test_an_app_waits_for_what_a_kustomization_hands_over_and_for_nothing_that_is_left_over() -> None:
    applied = [each for each in yaml.safe_load_all(REDIS)]
    for each in applied:
        each["metadata"]["labels"] = APPLIED
    apps = (
        kustomization("infra"),
        kustomization("policies", "infra"),
        kustomization("bad", components=["../../out"]),
        kustomization("checks", "bad", "policies"),
    )
    objects: list[Document] = [
        document_of(each, "x.yaml:1", "x.yaml:1") for each in (yaml.safe_load(SOURCE), *applied, *apps)
    ]
    draft = drafted(inventory({"prod": Reading(objects)}, {"prod": "hub"}))
    addons = draft.data["platform"]["addons"]
    assert {name: addon.get("dependsOn") for name, addon in addons.items()} == {
        "redis": None,
        "policies": ["redis"],
        "checks": ["policies"],
    }
    left = {(each.name, reason.field): reason.text for each in draft.resources for reason in each.reasons}
    assert left["checks", "spec.dependsOn"].startswith("add-on 'checks' names add-on 'bad', which ")
    assert left["bad", ""] == "component '../../out' leaves the source"


def test_apps_that_wait_for_what_applies_them_do_not_wait_for_each_other() -> None:
    """Such as for Flux's own bootstrap."""
    apps = [kustomization(name, "flux-system") for name in ("logs", "mesh", "web")]
    labels = {f"kustomize.toolkit.fluxcd.io/{key}": "flux-system" for key in ("name", "namespace")}
    for each in apps:
        each["metadata"]["labels"] = labels
    objects: list[Document] = [document_of(each, "x.yaml:1", "x.yaml:1") for each in (yaml.safe_load(SOURCE), *apps)]
    draft = drafted(inventory({"prod": Reading(objects)}, {"prod": "hub"}))
    addons = draft.data["platform"]["addons"]
    assert {name: addon.get("dependsOn") for name, addon in addons.items()} == dict.fromkeys(("logs", "mesh", "web"))
    told = {reason.text for each in draft.resources for reason in each.reasons if reason.field == "spec.dependsOn"}
    assert [text.partition(",")[0] for text in told] == ["it waits for flux-system/flux-system"]


TENANT = """\
apiVersion: v1
kind: Namespace
metadata: {name: rocky, labels: {toolkit.fluxcd.io/tenant: rocky}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rocky, namespace: rocky}
spec: {interval: 1m, url: "https://git.example.com/rocky", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: rocky}
spec: {interval: 5m, path: ./web, prune: true, targetNamespace: rocky, sourceRef: {kind: GitRepository, name: rocky}}
"""


def test_a_tenant_waits_for_the_addons_that_what_applied_it_has_waited_for() -> None:
    applied = list(yaml.safe_load_all(TENANT))
    for each in applied:
        each["metadata"].setdefault("labels", {}).update(
            {
                f"kustomize.toolkit.fluxcd.io/{key}": name
                for key, name in (("name", "tenants"), ("namespace", "flux-system"))
            }
        )
    apps = (kustomization("policies"), kustomization("tenants", "policies"))
    objects = [document_of(each, "x.yaml:1", "x.yaml:1") for each in (yaml.safe_load(SOURCE), *apps, *applied)]
    draft = drafted(inventory({"prod": Reading(objects)}, {"prod": "hub"}))
    assert draft.data["tenants"]["rocky"]["dependsOn"] == ["platform/policies"]
