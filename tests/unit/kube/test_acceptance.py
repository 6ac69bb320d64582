"""What an API server refuses of a complete object. Each bound but that of labels was tried on one."""

from __future__ import annotations

from typing import Any

from tenantry.kube.acceptance import MOST_ANNOTATIONS, MOST_DATA, MOST_KEYS, MOST_LABELS, MOST_STORED, refusals
from tests.table import table


def told(**manifest: Any) -> list[tuple[tuple[str, ...], str]]:
    metadata = {"name": "c", "namespace": "rocky", **manifest.pop("metadata", {})}
    return [(each.path, each.message) for each in refusals({"metadata": metadata, **manifest})]


def test_a_config_map_holds_at_most_a_mebibyte() -> None:
    assert told(kind="ConfigMap", data={"a": "x" * MOST_DATA}) == []
    found = told(kind="ConfigMap", data={"a": "x" * MOST_DATA, "b": "y"})
    assert found == [
        (("data",), "ConfigMap rocky/c would hold 1,048,577 bytes, and Kubernetes takes at most 1,048,576")
    ]


def test_bytes_are_counted_and_not_characters() -> None:
    (found,) = told(kind="ConfigMap", data={"a": "\u00fc" * (MOST_DATA // 2 + 1)})
    assert "would hold 1,048,578 bytes" in found[1]


def test_annotations_have_a_bound_together() -> None:
    half = MOST_ANNOTATIONS // 2 - 1
    assert told(kind="Namespace", metadata={"annotations": {"a": "x" * half, "b": "x" * half}}) == []
    found = told(kind="Namespace", metadata={"annotations": {"a": "x" * half, "b": "x" * half, "c": ""}})
    message = "the annotations of Namespace rocky/c have 262,145 bytes, and Kubernetes takes at most 262,144"
    assert found == [(("annotations", "a"), message)]


def test_labels_have_a_bound() -> None:
    labels = {f"l{number}": "" for number in range(MOST_LABELS)}
    assert told(kind="Namespace", metadata={"labels": labels}) == []
    found = told(kind="Namespace", metadata={"labels": labels | {"one": ""}})
    assert found == [(("labels",), "Namespace rocky/c has 251 labels, and at most 250 are taken")]


def test_an_object_fits_into_a_request_to_etcd() -> None:
    assert told(kind="HelmRelease", spec={"values": {"a": "x" * (MOST_STORED - 1000)}}) == []
    ((path, message),) = told(kind="HelmRelease", spec={"values": {"a": "x" * MOST_STORED}})
    assert (path, message.partition(" take ")[0]) == ((), "HelmRelease rocky/c would")


def test_an_api_server_lists_each_key_again() -> None:
    """So 12,000 long keys count twice."""
    values = {f"{'k' * 60}{number}": 1 for number in range(12_000)}
    assert told(kind="HelmRelease", spec={"values": values}) != []
    assert told(kind="HelmRelease", spec={"values": dict(list(values.items())[:6_000])}) == []


def test_many_keys_keep_an_api_server_busy() -> None:
    ((_, message),) = told(kind="HelmRelease", spec={"values": {f"k{number}": 1 for number in range(MOST_KEYS + 1)}})
    assert message.startswith("HelmRelease rocky/c has 20,0")


@table(
    ("hard", "wrong"),
    [
        ({"pods": "500m"}, ["pods"]),
        ({"pods": "1.5", "count/jobs.batch": ".5"}, ["pods", "count/jobs.batch"]),
        ({"pods": "2000m", "requests.cpu": "1.5", "services.loadbalancers": "1k"}, []),
    ],
)
def test_what_is_counted_is_whole(hard: dict[str, str], wrong: list[str]) -> None:
    assert [path for path, _ in told(kind="ResourceQuota", spec={"hard": hard})] == [("quota", each) for each in wrong]


@table(
    ("limits", "wrong"),
    [
        ({"default": {"cpu": "4"}, "max": {"cpu": "2"}}, [("default", "cpu")]),
        ({"defaultRequest": {"cpu": "4"}, "default": {"cpu": "2000m"}}, [("defaultRequest", "cpu")]),
        ({"min": {"memory": "2Gi"}, "max": {"memory": "2G"}}, [("min", "memory")]),
        ({"min": {"memory": "1Gi"}, "defaultRequest": {"memory": "512Mi"}}, [("min", "memory")]),
        ({"min": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}, "default": {"cpu": "1"}, "max": {"cpu": "1000m"}}, []),
        ({"default": {"cpu": "4"}, "max": {"memory": "1Gi"}}, []),
    ],
)
def test_the_limits_of_containers_are_in_order(limits: dict[str, Any], wrong: list[tuple[str, str]]) -> None:
    found = told(kind="LimitRange", spec={"limits": [{"type": "Container", **limits}]})
    assert [path for path, _ in found] == [("limits", *each) for each in wrong]


@table(
    ("resource", "quantity", "meaning"),
    [
        ("memory", "512m", "'512m' of 'memory' is 0.512 bytes"),
        ("limits.memory", 16, "'16' of 'limits.memory' is 16 bytes"),
        ("requests.storage", "1", "'1' of 'requests.storage' is 1 bytes"),
        ("cpu", "8Gi", "'8Gi' of 'cpu' is 8589934592 processors"),
        ("memory", 0, ""),
        ("memory", "1Ki", ""),
        ("requests.cpu", "500m", ""),
        ("pods", 16, ""),
    ],
)
def test_an_amount_has_the_unit_of_its_resource(resource: str, quantity: str | int, meaning: str) -> None:
    found = told(kind="ResourceQuota", spec={"hard": {resource: quantity}})
    assert found == ([(("quota", resource), meaning)] if meaning else [])
