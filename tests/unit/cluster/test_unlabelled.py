"""Planned objects whose label a tenant has taken off are seen all the same: they are neither missing nor the fleet's no more."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.cluster.drift import compare
from tenantry.cluster.inventory import flux_objects_of, holdings
from tenantry.cluster.reading import read_objects
from tenantry.kube.objects import object_id
from tests.unit.memory import Memory, held, list_of
from tests.unit.texts import planned, rocky

PLAN = planned(rocky("web: {kustomize: {source: manifests}}"))
WEB = next(each for each in PLAN.objects if each.id.kind == "Kustomization")


class Selecting(Memory):
    """Answers lists by the environment's label, as a server does."""

    def _answer(self, request: Any) -> Any:
        answer = super()._answer(request)
        selector = request.url.params.get("labelSelector", "")
        content = answer.json()
        if "items" in content and selector.startswith("tenantry/environment"):
            wanted = "!=" not in selector
            content["items"] = [
                each
                for each in content["items"]
                if (each["metadata"].get("labels", {}).get("tenantry/environment") == "dev") is wanted
            ]
            return type(answer)(200, json=content)
        return answer


@pytest.fixture
def hub() -> Memory:
    """The fleet is up, and a tenant has put its app into another environment."""
    memory = Selecting()
    memory.objects["/apis/helm.toolkit.fluxcd.io/v2/helmreleases"] = {"metadata": {}, "items": []}
    for each in PLAN.objects:
        live = held(each)
        if each.id == WEB.id:
            live["metadata"]["labels"] = {**live["metadata"]["labels"], "tenantry/environment": "other"}
        memory.objects.setdefault(list_of(each.id), {"metadata": {}, "items": []})["items"].append(live)
        root, _, kind = list_of(each.id).rpartition("/")
        memory.objects[f"{root}/namespaces/{each.id.namespace}/{kind}/{each.id.name}"] = live
    return memory


def test_the_status_is_that_of_the_object(hub: Memory) -> None:
    assert WEB.id in {object_id(each) for each in flux_objects_of(hub.client(), PLAN)}


def test_the_comparison_tells_the_label(hub: Memory) -> None:
    (difference,) = compare(hub.client(), "dev", PLAN.objects).differences
    assert str(difference) == "Kustomization rocky/web: metadata.labels.tenantry/environment"


def test_gates_find_it_in_a_large_fleet_too(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenantry.cluster.reading._FEW", 0)
    assert set(read_objects(hub.client(), "dev", [WEB.id])) == {WEB.id}


def test_the_guard_reads_what_stands_for_apps_whatever_its_labels(hub: Memory) -> None:
    there = {object_id(each): each for each in holdings(hub.client(), PLAN)}
    assert "spec" in there[WEB.id]
    without = PLAN.__class__(PLAN.environment, PLAN.management, (), (), ())
    assert WEB.id in {object_id(each) for each in holdings(hub.client(), without)}
