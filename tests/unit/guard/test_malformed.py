"""A malformed object is named in a warning, and neither ends a run nor hides what else is there."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.guard.check import RunLimits, doubts, refusals
from tenantry.guard.reading import held
from tests.table import table
from tests.unit.guard.fleets import fleet, manifests, tenant
from tests.unit.texts import planned

pytestmark = pytest.mark.usefixtures("plans_once")

FLEET = fleet(tenant("rocky", "web"), tenant("movy", "web"))
WITHOUT_MOVY = planned(fleet(tenant("rocky", "web")))
NOTHING = RunLimits(protected=False, deletions=0)
LABELS = {"tenantry/environment": "dev", "tenantry/cluster": "edge", "toolkit.fluxcd.io/tenant": "rocky"}
REFERENCE = {"secretRef": {"name": "edge-admin-kubeconfig"}}
RELEASE = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease"}


def release(spec: Any = None, status: Any = None, labels: Any = LABELS, namespace: str = "kamaji") -> dict[str, Any]:
    metadata = {"name": "odd", "namespace": namespace, "labels": labels}
    spec = {"kubeConfig": REFERENCE, **(spec or {})}
    return {**RELEASE, "metadata": metadata, "spec": spec, "status": status}


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace"}
APP = {**LABELS, "tenantry/app": "web"}

MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({**RELEASE}, "an object without a kind or name"),
    ({**RELEASE, "metadata": "text"}, "an object without a kind or name"),
    ({**RELEASE, "metadata": {"name": 7}}, "an object without a kind or name"),
    (release({"values": {"objects": "text"}}), "HelmRelease kamaji/odd: spec.values.objects is not a list"),
    *(
        (
            release({"values": {"objects": [{**NAMESPACE, **rest}, None, "text", {"kind": ["Namespace"]}]}}),
            "HelmRelease kamaji/odd: spec.values.objects has a Namespace without a name",
        )
        for rest in ({}, {"metadata": None}, {"metadata": []}, {"metadata": {"name": {}}}, {"metadata": {"name": None}})
    ),
    (release({"kubeConfig": "text"}), "HelmRelease kamaji/odd: spec.kubeConfig is not a mapping"),
    (release(status=["text"], labels=APP), "HelmRelease kamaji/odd: status is not a mapping"),
    (release(status={"inventory": "x"}, labels=APP), "HelmRelease kamaji/odd: status.inventory is not a mapping"),
    (
        release(status={"inventory": {"entries": [{"id": 1}, "text"]}}, labels=APP),
        "HelmRelease kamaji/odd: status.inventory.entries has an entry without an id",
    ),
]
SILENT = [
    release({"kubeConfig": {"secretRef": "text"}}),
    release({"kubeConfig": {"secretRef": {"name": ["text"]}}}),
    release({"values": "text"}),
    release(status={"inventory": {"entries": "text"}}, labels=APP),
    release(labels="text"),
    release(labels={"tenantry/environment": ["dev"]}),
]


@table("odd", [*(each for each, _ in MALFORMED), *SILENT])
def test_a_malformed_object_changes_no_refusal(odd: dict[str, Any]) -> None:
    there = held([*manifests(FLEET), odd], "dev")
    honest = held(manifests(FLEET), "dev")
    messages = [each.message for each in refusals(WITHOUT_MOVY, there, NOTHING) if each.code == "removals"]
    expected = [each.message for each in refusals(WITHOUT_MOVY, honest, NOTHING)]
    assert messages[0] == expected[0]
    assert "tenant 'movy' with its apps and rights, but not its data, on edge, hub" in messages[0]


@pytest.mark.parametrize(("odd", "problem"), MALFORMED)
def test_it_is_named_in_a_warning(odd: dict[str, Any], problem: str) -> None:
    (doubt,) = doubts(planned(FLEET), held([*manifests(FLEET), odd], "dev"), NOTHING)
    assert (doubt.severity, doubt.code) == ("warning", "malformed")
    assert doubt.message == f"1 object of environment 'dev' cannot be read in full: {problem}"


@pytest.mark.parametrize(
    "odd",
    [
        release({"values": {"objects": [NAMESPACE]}}, namespace="rocky"),
        {**release(namespace="rocky"), "spec": None},
        {**release(namespace="rocky"), "spec": "text"},
        {**release(namespace="rocky", labels=APP), "spec": {"kubeConfig": None}},
    ],
)
def test_a_malformed_object_in_a_tenant_s_namespace_is_named_as_misplaced(odd: dict[str, Any]) -> None:
    (doubt,) = doubts(planned(FLEET), held([*manifests(FLEET), odd], "dev"), NOTHING)
    assert (doubt.severity, doubt.code) == ("warning", "misplaced")
    assert doubt.message == (
        "1 object with labels of environment 'dev' where the fleet has no such object: HelmRelease rocky/odd. They count for"
        " nothing, and no run deletes what a tenant could have made"
    )


def test_what_can_be_read_of_a_malformed_baseline_counts() -> None:
    there = manifests(FLEET)
    (baseline,) = (each for each in there if each["metadata"]["name"] == "edge-movy-baseline")
    objects = [{"kind": "Namespace"}, *baseline["spec"]["values"]["objects"]]
    baseline["spec"] = {**baseline["spec"], "values": {"objects": objects}}
    assert held(there, "dev").namespaces == held(manifests(FLEET), "dev").namespaces
