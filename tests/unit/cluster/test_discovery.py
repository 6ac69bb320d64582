"""Kinds of the platform team's own objects that the management cluster does not know."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.reading import unserved
from tenantry.load import plan_one
from tests.table import table
from tests.unit.memory import Memory
from tests.unit.texts import fleet, rocky

TEXT = rocky(
    "web: {kustomize: {source: manifests}}",
    "clusters: {names: [hub]}\n"
    "objects: {pull: {apiVersion: external-secrets.io/v1, kind: ExternalSecret}, ca: {apiVersion: v1, kind: ConfigMap}}",
)
SERVED = {"name": "externalsecrets", "kind": "ExternalSecret", "namespaced": True}


@table(
    ("resources", "message"),
    [
        (
            None,
            "cluster 'hub' does not serve ExternalSecret of external-secrets.io/v1, which ExternalSecret rocky/pull is",
        ),
        ([{**SERVED, "name": "externalsecrets/status"}], "cluster 'hub' does not serve ExternalSecret"),
        (
            [{**SERVED, "namespaced": False}],
            "ExternalSecret of external-secrets.io/v1 is in no namespace on cluster 'hub'",
        ),
        ([SERVED], None),
    ],
)
def test_a_kind_that_the_cluster_does_not_serve_is_told_once(resources: list[Any] | None, message: str | None) -> None:
    loaded = fleet(TEXT)
    memory = Memory()
    if resources is not None:
        memory.objects["/apis/external-secrets.io/v1"] = {"resources": resources}
    with memory.client() as client:
        found = [each.message for each in unserved(client, loaded, plan_one(loaded, "dev"))]
    assert len(found) == (message is not None)
    assert all(each.startswith(message or "") and "(tenants.yaml:1" in each for each in found)


CLUSTER_SCOPED = TEXT.replace("objects: {pull", "clusterObjects: {pull").replace(
    ", ca: {apiVersion: v1, kind: ConfigMap}", ""
)


@table(
    ("namespaced", "message"),
    [(False, None), (True, "ExternalSecret of external-secrets.io/v1 is in a namespace on cluster 'hub'")],
)
def test_a_cluster_object_is_of_a_kind_outside_of_namespaces(*, namespaced: bool, message: str | None) -> None:
    loaded = fleet(CLUSTER_SCOPED)
    memory = Memory()
    memory.objects["/apis/external-secrets.io/v1"] = {"resources": [{**SERVED, "namespaced": namespaced}]}
    with memory.client() as client:
        found = [each.message for each in unserved(client, loaded, plan_one(loaded, "dev"))]
    assert len(found) == (message is not None)
    assert all(each.startswith(message or "") for each in found)
