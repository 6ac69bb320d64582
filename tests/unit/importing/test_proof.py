from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tenantry.facts.objects import compared
from tenantry.importing.blocks import is_effective, sides
from tenantry.importing.drafting import Draft
from tenantry.importing.proof import Defect, Report, Result, report_of
from tenantry.importing.resources import Inventory, Resource
from tenantry.load import fleet_of, plan_all
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.table import table

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    quota: {pods: "40", requests.cpu: 2}
    sources: {manifests: {git: {url: "https://git.example.com/rocky", ref: {branch: main}, interval: 1m}}}
    apps: {db: {kustomize: {source: manifests, path: ./db}}}
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_all(fleet_of(parse(FLEET.encode(), "tenants.yaml")))["dev"]


def read(manifest: Mapping[str, Any], environment: str = "dev") -> Resource:
    return Resource(environment, manifest, "live")


def reported(*resources: Resource) -> Report:
    """The report on some resources, with the plan of the fleet."""
    return report_of(Inventory((), {"dev": "hub", "prod": "other"}), Draft({}, list(resources)), FLEET, "tenants.yaml")


def source(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "manifests", "namespace": "rocky"}
    whole = {"url": "https://git.example.com/rocky", "ref": {"branch": "main"}, "interval": "60s", **spec}
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1beta2",
        "kind": "GitRepository",
        "metadata": metadata,
        "spec": whole,
    }


def test_a_plan_that_is_read_back_is_equal(plan: Plan) -> None:
    report = reported(*(read(each.manifest) for each in plan.objects))
    assert report.counts == {
        **{"read": len(plan.objects), "equal": len(plan.objects)},
        **dict.fromkeys(("different", "left", "inexpressible", "added"), 0),
    }
    assert not any(each.held for each in report.objects)


def paths(result: Result) -> tuple[list[str], list[str]]:
    changed, held = (
        [".".join(map(str, field.path)) for field in fields if field.path != ("apiVersion",)]
        for fields in (result.changed, result.held)
    )
    return changed, held


def test_defaults_and_durations_are_no_changes() -> None:
    (result,) = reported(read(source(timeout="1m", suspend=False))).objects
    assert paths(result) == ([], [])


def test_what_the_plan_does_not_set_stays_on_the_object() -> None:
    (result,) = reported(read(source(recurseSubmodules=True, interval="5m"))).objects
    assert paths(result) == (["spec.interval"], ["spec.recurseSubmodules"])


def test_an_object_that_is_neither_planned_nor_reported_is_a_defect() -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}
    with pytest.raises(Defect, match=r"^ConfigMap b/a \(live\) is neither planned nor reported$"):
        reported(read(manifest))
    config = read(manifest)
    config.leave("a part", "keep it", "data")
    with pytest.raises(Defect):
        reported(config)
    config.leave("no tenant is in its namespace", "keep it where it is")
    assert [each.outcome for each in reported(config).objects] == ["inexpressible"]


def test_an_object_of_another_cluster_is_another_object() -> None:
    elsewhere = read(source(), "prod")
    elsewhere.leave("it is elsewhere", "keep it", is_left=True)
    assert [each.outcome for each in reported(elsewhere).objects] == ["left"]


@table(
    ("kind", "one", "other", "same"),
    [
        ("ResourceQuota", {"hard": {"cpu": "1000m"}}, {"hard": {"cpu": 1}}, True),
        ("ResourceQuota", {"hard": {"cpu": "1"}}, {"hard": {"cpu": "2"}}, False),
        ("Kustomization", {"path": "."}, {"path": "./"}, True),
        ("Kustomization", {"path": "a"}, {"path": "./a/"}, True),
        ("Kustomization", {"interval": "5m"}, {"interval": "5m", "timeout": "4m30s", "retryInterval": "300s"}, True),
        (
            "Kustomization",
            {"postBuild": {"substitute": {"A": "60s"}}},
            {"postBuild": {"substitute": {"A": "1m"}}},
            False,
        ),
        ("Kustomization", {"interval": "1m30s"}, {"interval": "90000ms"}, True),
        ("Kustomization", {"interval": "1"}, {"interval": "1s"}, False),
        ("HelmRelease", {"values": {"wait": "60s"}}, {"values": {"wait": "1m"}}, False),
        ("HelmRelease", {}, {"releaseName": "x", "targetNamespace": "n", "storageNamespace": "n"}, True),
        ("HelmRelease", {"targetNamespace": "n"}, {"targetNamespace": "n", "releaseName": "n-x"}, True),
        ("HelmRelease", {"suspend": False}, {"suspend": None}, True),
    ],
)
def test_what_is_the_same_for_kubernetes_and_flux(kind: str, one: Any, other: Any, *, same: bool) -> None:
    metadata = {"name": "x", "namespace": "n"}
    first, second = ({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec} for spec in (one, other))
    (both,) = compared(*({"x": side} for side in sides(first, second, None))).both.values()
    assert same == (not any(is_effective(kind, field) for field in both.fields))


@table(
    ("namespace", "told"),
    [("other", (["spec.sourceRef.namespace"], [])), ("rocky", ([], ["spec.sourceRef.namespace"]))],
)
def test_the_namespace_of_a_source_elsewhere_does_not_stay(
    plan: Plan, namespace: str, told: tuple[list[str], list[str]]
) -> None:
    (app,) = (each.manifest for each in plan.objects if each.id.kind == "Kustomization")
    reference = {**app["spec"]["sourceRef"], "namespace": namespace}
    (result,) = reported(read({**app, "spec": {**app["spec"], "sourceRef": reference}})).objects
    assert paths(result) == told
