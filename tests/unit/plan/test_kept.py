"""What can hold data is marked on every cluster, so that it outlives its release, its Kustomization and its stack."""

from __future__ import annotations

from typing import Any

from tenantry.plan.plan import Plan
from tests.table import table
from tests.unit.guard.fleets import SOURCES
from tests.unit.texts import FRAME, one, planned

KEEP, UNPRUNED = ("helm.sh/resource-policy", "keep"), ("kustomize.toolkit.fluxcd.io/prune", "disabled")
TENANT = f"""\
tenants:
  rocky:
    clusters: {{all: true}}
    namespaces: {{jobs: {{}}}}
    objects:
      data: {{apiVersion: v1, kind: PersistentVolumeClaim, spec: {{accessModes: [ReadWriteOnce]}}}}
      notes: {{apiVersion: v1, kind: ConfigMap, data: {{}}}}
    clusterObjects:
      disk: {{apiVersion: v1, kind: PersistentVolume, metadata: {{name: "{{cluster}}-{{namespace}}"}}, spec: {{}}}}
{SOURCES}    apps: {{web: {{kustomize: {{source: m}}}}}}
"""
ALL = {
    *("Namespace rocky", "Namespace rocky-jobs", "PersistentVolumeClaim rocky/data"),
    *("PersistentVolumeClaim rocky-jobs/data", "PersistentVolume {}-rocky"),
}


def marked(plan: Plan, baseline: str = "edge-rocky-baseline") -> tuple[set[str], set[str]]:
    """What is marked on the management cluster, and what in a release on the remote cluster."""
    release = one(plan, "HelmRelease", baseline).manifest
    found = [each for each in release["spec"]["values"]["objects"] if KEEP in annotations(each)]
    return {str(each.id) for each in plan.objects if each.retained}, {name(each) for each in found}


def annotations(manifest: Any) -> set[tuple[str, str]]:
    return {*manifest["metadata"].get("annotations", {}).items()}


def name(manifest: Any) -> str:
    return " ".join((manifest["kind"], "/".join(filter(None, map(manifest["metadata"].get, ("namespace", "name"))))))


def on(cluster: str, names: set[str] = ALL) -> set[str]:
    return {each.format(cluster) for each in names}


def test_whatever_can_hold_data_is_marked_on_both_sides() -> None:
    plan = planned(FRAME + TENANT)
    assert marked(plan) == (on("hub"), on("edge"))
    for each in plan.objects:
        metadata = each.manifest["metadata"]
        if each.retained:
            assert UNPRUNED in {*metadata["labels"].items(), *annotations(each.manifest)}


def test_off_boarding_takes_the_marks_away_and_decommissioning_does_not() -> None:
    clusters = "    clusters: {all: true}\n"
    off = TENANT.replace(clusters, f"{clusters}    state: offboarding\n")
    assert marked(planned(FRAME + off)) == (set(), set())
    gone = FRAME.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    assert marked(planned(gone + TENANT)) == (on("hub"), on("edge"))
    paused = TENANT.replace(clusters, f"{clusters}    state: paused\n")
    assert marked(planned(FRAME + paused)) == (on("hub"), on("edge"))


@table("cluster", ["hub", "edge"])
def test_a_tenant_is_off_boarded_on_one_cluster(cluster: str) -> None:
    over = f"    overrides: [{{when: {{clusters: {{names: [{cluster}]}}}}, state: offboarding, quota: {{pods: 3}}}}]\n"
    plan = planned(FRAME + TENANT.replace("    namespaces:", f"{over}    namespaces:"))
    on_hub, on_edge = marked(plan)
    assert (on_hub, on_edge) == ((set(), on("edge")) if cluster == "hub" else (on("hub"), set()))
    state = {
        each.owner.cluster: each.manifest["metadata"]["labels"].get("tenantry/state", "")
        for each in plan.objects
        if each.id.kind == "Kustomization"
    }
    assert state == {"hub": "", "edge": "", cluster: "offboarding"}


def test_an_extra_namespace_is_off_boarded_by_itself() -> None:
    plan = planned(FRAME + TENANT.replace("{jobs: {}}", "{jobs: {state: offboarding}}"))
    left = ALL - {"Namespace rocky-jobs"}
    assert marked(plan) == (on("hub", left), on("edge", left))


ADDON = "dns: {{clusters: {{all: true}}, source: {{{}}}, {}: {{{}}}{}}}"
CHART = ("helm: {url: https://charts.example.com}", "helm", "chart: dns, version: 1.x")
MANIFESTS = ("git: {url: https://git.example.com/dns, ref: {branch: main}}", "kustomize", "path: ./dns")
PATCH = "{apiVersion: v1, kind: Service, metadata: {name: dns}}"
OWN = f"{{kustomize: {{patches: [{{patch: '{PATCH}'}}]}}}}"


def addon(kind: tuple[str, str, str], more: str = "") -> dict[str, Any]:
    frame = FRAME.replace("platform: {", f"platform: {{addons: {{{ADDON.format(*kind, more)}}}, ")
    spec: dict[str, Any] = one(planned(frame), "HelmRelease" if kind[1] == "helm" else "Kustomization", "dns").manifest[
        "spec"
    ]
    return spec


def test_the_definitions_of_an_add_on_outlive_it_after_the_authors_own_patches() -> None:
    renderers = addon((*CHART[:2], f"{CHART[2]}, postRenderers: [{OWN}]"))["postRenderers"]
    assert renderers[0] == {"kustomize": {"patches": [{"patch": PATCH}]}}
    (patch,) = renderers[1]["kustomize"]["patches"]
    assert patch["target"] == {"kind": "CustomResourceDefinition"}
    assert patch["patch"].endswith("  annotations:\n    helm.sh/resource-policy: keep\n")
    (patch,) = addon(MANIFESTS)["patches"]
    assert patch["patch"].endswith("  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n")


@table("more", [", keepCRDs: false", ", state: offboarding"])
def test_they_go_with_it_if_the_file_says_so(more: str) -> None:
    assert "postRenderers" not in addon(CHART, more)
    assert "patches" not in addon(MANIFESTS, more)
