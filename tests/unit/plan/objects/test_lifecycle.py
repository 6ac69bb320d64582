"""States of clusters, tenants and apps, as their objects show them."""

from __future__ import annotations

from tenantry.kube.objects import KubeObject
from tenantry.model import ClusterState, State
from tenantry.plan.objects.lifecycle import lifecycle
from tests.table import table
from tests.unit.texts import FRAME, one, planned, rocky

APPS = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: c, version: 1.x}}"


def objects(text: str) -> dict[str, KubeObject]:
    return {str(each.id): each for each in planned(text).objects}


def suspended(text: str) -> set[str]:
    return {name for name, each in objects(text).items() if each.manifest.get("spec", {}).get("suspend")}


def marked(text: str) -> dict[str, str]:
    labels = {name: each.manifest["metadata"].get("labels", {}) for name, each in objects(text).items()}
    return {name: found["tenantry/state"] for name, found in labels.items() if "tenantry/state" in found}


def on_both(state: str = "") -> str:
    return rocky(APPS, f"clusters: {{all: true}}\n{state}")


LOCAL = {"Kustomization rocky/web", "HelmRelease rocky/cache"}
REMOTE = {"Kustomization kamaji/edge-rocky-web", "HelmRelease kamaji/edge-rocky-cache"}
BASELINE = "HelmRelease kamaji/edge-rocky-baseline"


def test_nothing_is_suspended_or_marked_by_itself() -> None:
    assert (suspended(on_both()), marked(on_both())) == (set(), {})


def test_a_paused_tenant_s_apps_are_suspended_and_its_baselines_are_not() -> None:
    assert (suspended(on_both("state: paused")), marked(on_both("state: paused"))) == (LOCAL | REMOTE, {})


def test_a_paused_app_is_suspended_alone() -> None:
    text = rocky(APPS.replace("web: {", "web: {state: paused, "), "clusters: {all: true}")
    assert suspended(text) == {"Kustomization rocky/web", "Kustomization kamaji/edge-rocky-web"}


def test_an_override_suspends_an_app_in_its_environment_alone() -> None:
    text = on_both().replace("environments: [dev]", "environments: [dev, qa]")
    text = text.replace(
        "  dev: {management: hub}", "  dev: {management: hub}\n  qa: {management: hub, namespace: qa-rocky}"
    )
    override = "overrides: [{when: {environments: [dev]}, kustomize: {suspend: true}}]"
    text = text.replace("web: {", f"web: {{{override}, ")
    assert suspended(text) == {"Kustomization rocky/web", "Kustomization kamaji/edge-rocky-web"}
    in_qa = [each.manifest["spec"] for each in planned(text, "qa").objects if each.id.kind == "Kustomization"]
    assert [each.get("suspend", False) for each in in_qa] == [False, False]


def test_on_a_paused_cluster_everything_that_acts_there_is_suspended() -> None:
    paused = on_both().replace("labels: {tier: edge},", "labels: {tier: edge}, state: paused,")
    assert (suspended(paused), marked(paused)) == ({*REMOTE, BASELINE}, {})


def test_a_decommissioned_cluster_is_left_as_it_is_and_given_up() -> None:
    gone = on_both().replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    assert suspended(gone) == {*REMOTE, BASELINE}
    assert marked(gone) == dict.fromkeys((*REMOTE, BASELINE), "decommissioned")
    spec = one(planned(gone), "Kustomization", "edge-rocky-web").manifest["spec"]
    assert spec["deletionPolicy"] == "Orphan"


def test_a_tenant_that_leaves_says_so_on_all_that_stands_for_it() -> None:
    leaving = on_both("state: offboarding\nnamespaces: {jobs: {}}")
    expected = {*LOCAL, *REMOTE, BASELINE, "Namespace rocky", "Namespace rocky-jobs"}
    assert expected <= marked(leaving).keys()
    assert set(marked(leaving).values()) == {"offboarding"}
    assert suspended(leaving) == set()


@table(
    ("state", "unprotected"),
    [("", set()), ("state: offboarding", {*LOCAL, *REMOTE, BASELINE, "Namespace rocky"})],
)
def test_where_it_is_protected_the_engine_refuses_to_delete_what_stays(state: str, unprotected: set[str]) -> None:
    text = on_both(state).replace("dev: {management: hub}", "dev: {management: hub, protected: true}")
    protected = {name for name, each in objects(text).items() if each.protect}
    assert protected == {*LOCAL, *REMOTE, BASELINE, "Namespace rocky"} - unprotected


def test_elsewhere_nothing_is_protected() -> None:
    assert not any(each.protect for each in planned(on_both()).objects)


def test_a_release_environment_is_protected_as_the_one_it_extends() -> None:
    frame = FRAME.replace(
        "dev: {management: hub}",
        "dev: {management: hub, protected: true}\n  r1: {extends: dev, namespace: '{env}-{tenant}'}",
    )
    text = rocky(APPS).replace(FRAME, frame.replace("hub: {environments: [dev]", "hub: {environments: [dev, r1]"))
    assert one(planned(text, "r1"), "Namespace", "r1-rocky").protect


@table(
    "cluster, owners, leaving",
    [
        ("active", ("active", "active"), ""),
        ("active", ("removing", "active"), "removing"),
        ("active", ("removing", "offboarding"), "offboarding"),
        ("removing", ("active",), "removing"),
        ("offboarding", ("active",), "offboarding"),
        ("offboarding", ("removing",), "removing"),
        ("removing", ("offboarding",), "offboarding"),
        ("decommissioned", ("offboarding",), "decommissioned"),
    ],
)
def test_a_tenant_s_own_mark_prevails_over_its_cluster_s(
    cluster: ClusterState, owners: tuple[State, ...], leaving: str
) -> None:
    found = lifecycle(cluster, *owners)
    assert (found.leaving, found.keeps_data) == (leaving, leaving != "offboarding")


def test_what_is_announced_is_marked_and_keeps_its_data() -> None:
    leaving = on_both("state: removing")
    assert set(marked(leaving).values()) == {"removing"}
    namespace = one(planned(leaving), "Namespace", "rocky")
    assert namespace.retained
    for text, policy in ((leaving, {"helm.sh/resource-policy": "keep"}), (on_both("state: offboarding"), {})):
        release = one(planned(text), "HelmRelease", "edge-rocky-baseline").manifest
        annotations = release["spec"]["values"]["objects"][0]["metadata"].get("annotations", {})
        assert {key: value for key, value in annotations.items() if key.startswith("helm.sh")} == policy


def test_a_namespace_that_was_given_up_by_itself_is_given_up_though_its_tenant_leaves_data() -> None:
    leaving = on_both("state: removing\nnamespaces: {jobs: {state: offboarding}}")
    assert {marked(leaving)[f"Namespace {name}"] for name in ("rocky-jobs", "rocky")} == {"offboarding", "removing"}
    assert not one(planned(leaving), "Namespace", "rocky-jobs").retained
