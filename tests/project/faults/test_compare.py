"""What tests/faults call a difference between a cluster and the plan."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tenantry.kube.objects import ObjectId, object_id
from tenantry.load import load_fleet, plan_one
from tenantry.plan.plan import Plan
from tests.e2e.project import FLEETS
from tests.faults.compare import Target, compared, on_management, on_remote, orphans, unready

FLEET = FLEETS / "small" / "tenants.yaml"
LABELS = {"tenantry/environment": "dev"}
READY = {"conditions": [{"type": "Ready", "status": "True", "message": ""}], "observedGeneration": 1}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_one(load_fleet(FLEET), "dev")


def made(kind: str = "ConfigMap", name: str = "settings", **fields: Any) -> dict[str, Any]:
    metadata = {"namespace": "rocky", "name": name, "labels": dict(LABELS)}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def found(planned: list[dict[str, Any]], live: list[dict[str, Any]]) -> list[str]:
    return list(compared(Target("hub", planned, "tenantry"), {object_id(each): each for each in live}, "dev"))


def as_planned(target: Target) -> dict[ObjectId, dict[str, Any]]:
    """A cluster that holds just what it has to, and has all of it ready."""
    live = {object_id(each): deepcopy(dict(each)) for each in target.planned}
    for manifest in live.values():
        manifest["metadata"]["generation"] = 1
        manifest["status"] = READY
        if manifest["kind"] == "Secret":
            manifest["data"] = {"any": ""}
    return live


def test_clusters_that_are_as_planned_differ_in_nothing(plan: Plan) -> None:
    hub = as_planned(on_management(plan))
    assert list(compared(on_management(plan), hub, "dev")) == []
    assert list(unready(plan, hub)) == []
    assert list(compared(on_remote(plan, "edge"), as_planned(on_remote(plan, "edge")), "dev")) == []


def test_a_remote_cluster_has_to_hold_what_its_baselines_install(plan: Plan) -> None:
    missing = list(compared(on_remote(plan, "edge"), {}, "dev"))
    assert "edge: Namespace rocky is missing" in missing
    assert "edge: ResourceQuota movy/tenantry is missing" in missing
    assert {each.split()[1] for each in missing} == {"Namespace", "RoleBinding", "ResourceQuota", "NetworkPolicy"}


def test_an_object_that_is_not_there_is_missing() -> None:
    assert found([made()], []) == ["hub: ConfigMap rocky/settings is missing"]


@pytest.mark.parametrize(
    ("planned", "live"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}),
        ({"cpu": 8, "memory": "1Gi"}, {"cpu": "8", "memory": "1024Mi"}),
        ({"cpu": "0.5"}, {"cpu": "500m"}),
        ({"a": {}, "b": [], "c": None, "d": False}, {}),
    ],
    ids=["defaults", "defaults in a list", "numbers", "fractions", "what is empty"],
)
def test_what_the_server_adds_or_writes_otherwise_is_no_difference(
    planned: Mapping[str, Any], live: Mapping[str, Any]
) -> None:
    assert found([made(spec=planned)], [made(spec=live)]) == []


@pytest.mark.parametrize(
    ("planned", "live", "expected"),
    [
        ({"a": 1}, {"a": 2}, "spec.a is 2, planned is 1"),
        ({"a": 1}, {}, "spec.a is None, planned is 1"),
        ({"a": {"b": "x"}}, {"a": {"b": "y"}}, "spec.a.b is 'y', planned is 'x'"),
        ({"a": [1, 2]}, {"a": [1]}, "spec.a is [1], planned is [1, 2]"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "spec.a[0].b is 2, planned is 1"),
        ({"a": "1Gi"}, {"a": "1Mi"}, "spec.a is '1Mi', planned is '1Gi'"),
        ({"a": True}, {"a": "true"}, "spec.a is 'true', planned is True"),
        ({"a": False}, {"a": True}, "spec.a is True, planned is False"),
        ({"a": {}}, {"a": {"b": 1}}, None),
    ],
)
def test_a_planned_field_with_another_value_is_named(
    planned: Mapping[str, Any], live: Mapping[str, Any], expected: str | None
) -> None:
    expected_lines = [f"hub: ConfigMap rocky/settings: {expected}"] if expected else []
    assert found([made(spec=planned)], [made(spec=live)]) == expected_lines


def test_a_secrets_values_are_not_compared_but_have_to_be_there() -> None:
    planned = made("Secret", type="Opaque", stringData={"password": "unknown"})
    assert found([planned], [made("Secret", type="Opaque", data={"password": "c2VjcmV0"})]) == []
    assert found([planned], [made("Secret", type="Opaque")]) == ["hub: Secret rocky/settings: data is empty"]


def test_what_carries_the_fleets_label_and_is_not_planned_is_too_much() -> None:
    assert found([], [made()]) == ["hub: ConfigMap rocky/settings is not planned"]


def test_what_is_of_another_environment_or_of_nobody_is_passed_over() -> None:
    other, nobody = made(name="other"), made(name="nobody")
    other["metadata"]["labels"] = {"tenantry/environment": "prod"}
    nobody["metadata"]["labels"] = None
    assert found([], [other, nobody]) == []


def test_what_is_in_deletion_is_named_with_what_keeps_it() -> None:
    live = made()
    live["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["finalizers.fluxcd.io"]}
    assert found([made()], [live]) == ["hub: ConfigMap rocky/settings is in deletion, kept by finalizers.fluxcd.io"]


def test_a_field_that_an_earlier_plan_has_left_is_named() -> None:
    live = made(spec={"a": 1, "b": 2})
    fields = {"f:metadata": {"f:labels": {"f:tenantry/environment": {}}}, "f:spec": {"f:a": {}, "f:b": {}}}
    live["metadata"]["managedFields"] = [{"manager": "tenantry", "operation": "Apply", "fieldsV1": fields}]
    assert found([made(spec={"a": 1})], [live]) == ["hub: ConfigMap rocky/settings: spec.b is set, and not planned"]


def test_a_field_that_somebody_else_has_set_is_theirs() -> None:
    live = made(spec={"a": 1, "b": 2})
    other = {"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:b": {}}}}
    live["metadata"]["managedFields"] = [other]
    assert found([made(spec={"a": 1})], [live]) == []


def test_an_app_that_is_not_ready_is_named_with_what_flux_says(plan: Plan) -> None:
    hub = as_planned(on_management(plan))
    id = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "rocky", "db")
    hub[id]["status"] = {
        "conditions": [{"type": "Ready", "status": "False", "reason": "BuildFailed", "message": "no such path"}],
        "observedGeneration": 1,
    }
    assert list(unready(plan, hub)) == ["hub: Kustomization rocky/db is failed: no such path"]


def test_an_app_is_ready_only_in_the_form_it_has_now(plan: Plan) -> None:
    hub = as_planned(on_management(plan))
    baseline = ObjectId("helm.toolkit.fluxcd.io/v2", "HelmRelease", "clusters", "edge-movy-baseline")
    hub[baseline]["metadata"]["generation"] = 2
    assert list(unready(plan, hub)) == [
        "hub: HelmRelease clusters/edge-movy-baseline is progressing: Flux has not reconciled the change yet"
    ]


def test_what_waits_for_a_paused_app_need_not_be_ready(tmp_path: Path) -> None:
    file, text = tmp_path / "tenants.yaml", FLEET.read_text()
    file.write_text(text.replace("db: {kustomize:", "db: {state: paused, kustomize:"))
    plan = plan_one(load_fleet(file), "dev")
    hub = as_planned(on_management(plan))
    for name in ("db", "web"):
        del hub[ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "rocky", name)]["status"]
    assert list(unready(plan, hub)) == []


def test_what_flux_applied_for_an_object_that_is_gone_is_an_orphan(plan: Plan) -> None:
    hub = as_planned(on_management(plan))
    labels = {"kustomize.toolkit.fluxcd.io/namespace": "rocky"}
    mine, orphan = made(name="mine"), made(name="orphan")
    mine["metadata"]["labels"] = {**labels, "kustomize.toolkit.fluxcd.io/name": "db"}
    orphan["metadata"]["labels"] = {**labels, "kustomize.toolkit.fluxcd.io/name": "cache"}
    live = {object_id(each): each for each in (mine, orphan)}
    assert list(orphans("edge", live, hub)) == [
        "edge: ConfigMap rocky/orphan was applied for Kustomization rocky/cache, which is gone"
    ]


def test_a_helm_release_that_nothing_stands_for_is_an_orphan(plan: Plan) -> None:
    hub = as_planned(on_management(plan))
    secrets = {name: made("Secret", f"sh.helm.release.v1.{name}.v1", type="helm.sh/release.v1") for name in ("a", "b")}
    for secret, (namespace, name) in zip(
        secrets.values(), (("tenantry-system", "movy-baseline"), ("movy", "old")), strict=True
    ):
        secret["metadata"] |= {"namespace": namespace, "labels": {"owner": "helm", "name": name}}
    assert list(orphans("edge", {object_id(each): each for each in secrets.values()}, hub)) == [
        "edge: Secret movy/sh.helm.release.v1.b.v1 is of Helm release movy/old, which is gone"
    ]
