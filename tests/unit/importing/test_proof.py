from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenantry.facts.objects import compared
from tenantry.importing.equivalence import is_effective, sides
from tenantry.importing.model import Became, Draft, Inventory, LeftOver, Proof, Read
from tenantry.importing.proof import prove
from tenantry.load import load_fleet, plan_all
from tenantry.plan.plan import Plan
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
NOTHING = Draft({}, (), ())


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    file = tmp_path_factory.mktemp("fleet") / "tenants.yaml"
    file.write_text(FLEET)
    return plan_all(load_fleet(file))


def read(manifest: Mapping[str, Any]) -> Read:
    return Read("dev", manifest, "live")


def inventory(*objects: Read) -> Inventory:
    return Inventory(objects, {"dev": "hub"})


def source(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "manifests", "namespace": "rocky"}
    whole = {"url": "https://git.example.com/rocky", "ref": {"branch": "main"}, "interval": "60s", **spec}
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1beta2",
        "kind": "GitRepository",
        "metadata": metadata,
        "spec": whole,
    }


def test_a_plan_that_is_read_back_is_kept_without_a_change(plans: dict[str, Plan]) -> None:
    objects = [read(each.manifest) for each in plans["dev"].objects]
    proof = prove(inventory(*objects), NOTHING, plans)
    assert [each.changed + each.stays for each in proof.kept] == [()] * len(objects)
    assert (proof.added, proof.missing, proof.defects) == ((), (), ())


def one(proof: Proof) -> tuple[list[str], list[str]]:
    (kept,) = proof.kept
    changed, stays = (
        [".".join(map(str, each.path)) for each in fields if each.path != ("apiVersion",)]
        for fields in (kept.changed, kept.stays)
    )
    return changed, stays


def test_defaults_and_durations_are_no_changes(plans: dict[str, Plan]) -> None:
    assert one(prove(inventory(read(source(timeout="1m", suspend=False))), NOTHING, plans)) == ([], [])


def test_what_the_plan_does_not_set_stays_on_the_object(plans: dict[str, Plan]) -> None:
    told = prove(inventory(read(source(recurseSubmodules=True, interval="5m"))), NOTHING, plans)
    assert one(told) == (["spec.interval"], ["spec.recurseSubmodules"])


def test_an_object_that_is_neither_planned_nor_reported_is_a_defect(plans: dict[str, Plan]) -> None:
    config = read({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}})
    proof = prove(inventory(config), NOTHING, plans)
    assert proof.missing == (config,)
    assert proof.defects == ("ConfigMap b/a (live) is neither planned nor reported",)
    left = LeftOver(config, "no tenant is in its namespace", "keep it where it is")
    assert prove(inventory(config), replace(NOTHING, left_over=(left,)), plans).defects == ()
    part = replace(left, field="data")
    assert len(prove(inventory(config), replace(NOTHING, left_over=(part,)), plans).defects) == 1


def test_a_place_that_is_not_written_is_a_defect(plans: dict[str, Plan]) -> None:
    found = read(source())
    draft = Draft({"tenants": {"rocky": {}}}, (Became(found, ("tenants", "rocky", "sources", "manifests")),), ())
    (defect,) = prove(inventory(found), draft, plans).defects
    assert (
        defect == "GitRepository rocky/manifests is said to be at tenants.rocky.sources.manifests, which is not written"
    )


def test_an_object_of_another_cluster_is_another_object(plans: dict[str, Plan]) -> None:
    elsewhere = Inventory((replace(read(source()), environment="prod"),), {"dev": "hub", "prod": "other"})
    proof = prove(elsewhere, NOTHING, plans)
    assert (proof.kept, len(proof.missing)) == ((), 1)


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


def test_examples_are_read_back_without_a_change() -> None:
    examples = Path(__file__).parents[3] / "examples"
    for file in sorted(examples.glob("*/tenants.yaml")):
        found = plan_all(load_fleet(file))
        objects = tuple(Read(name, each.manifest, "live") for name, plan in found.items() for each in plan.objects)
        management = {name: plan.management for name, plan in found.items()}
        proof = prove(Inventory(objects, management), NOTHING, found)
        assert not any(each.changed or each.stays for each in proof.kept), file
        assert (proof.added, proof.missing) == ((), ()), file


@table(
    ("namespace", "told"),
    [("other", (["spec.sourceRef.namespace"], [])), ("rocky", ([], ["spec.sourceRef.namespace"]))],
)
def test_the_namespace_of_a_source_elsewhere_does_not_stay(
    plans: dict[str, Plan], namespace: str, told: tuple[list[str], list[str]]
) -> None:
    (app,) = (each.manifest for each in plans["dev"].objects if each.id.kind == "Kustomization")
    reference = {**app["spec"]["sourceRef"], "namespace": namespace}
    found = {**app, "spec": {**app["spec"], "sourceRef": reference}}
    objects = [read(found), *(read(each.manifest) for each in plans["dev"].objects if each.id.kind == "GitRepository")]
    kept = next(
        each for each in prove(inventory(*objects), NOTHING, plans).kept if each.planned.id.kind == "Kustomization"
    )
    assert one(Proof((kept,), (), (), ())) == told
