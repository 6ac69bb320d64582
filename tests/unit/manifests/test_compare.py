"""Objects of both sides are paired by identity, and secret values never appear."""

from __future__ import annotations

from typing import Any

from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Effect
from tenantry.manifests.run import compared
from tenantry.messages.data import ABSENT
from tenantry.messages.masking import HIDDEN_CHANGED as OTHER
from tenantry.messages.masking import HIDDEN_VALUE as HIDDEN


def manifest(kind: str, name: str, api_version: str = "v1", **content: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **content}


def fields(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    (change,), _ = compared([before], [after])
    return [(".".join(map(str, each.path)), each.before, each.after) for each in change.fields]


def test_removed_added_and_changed_objects() -> None:
    same = manifest("Service", "web")
    changes, unchanged = compared(
        [manifest("ConfigMap", "old"), same, manifest("ConfigMap", "web", data={"a": "1"})],
        [manifest("ConfigMap", "web", data={"a": "2"}), same, manifest("ConfigMap", "new")],
    )
    assert unchanged == 1
    assert [(each.effect, each.id.name, each.fields) for each in changes] == [
        (Effect.REMOVED, "old", ()),
        (Effect.ADDED, "new", ()),
        (Effect.CHANGED, "web", (FieldChange(("data", "a"), "1", "2"),)),
    ]


def test_another_version_of_the_api_is_the_same_object() -> None:
    assert fields(manifest("CronJob", "job", "batch/v1beta1"), manifest("CronJob", "job", "batch/v1")) == [
        ("apiVersion", "batch/v1beta1", "batch/v1")
    ]


def test_values_of_secrets_are_hidden_and_still_seen_to_change() -> None:
    before = manifest("Secret", "login", data={"password": "b2xk", "user": "YQ=="})
    after = manifest("Secret", "login", data={"password": "bmV3", "user": "YQ==", "token": "eHl6"})
    assert fields(before, after) == [("data.password", HIDDEN, OTHER), ("data.token", ABSENT, HIDDEN)]
    assert fields(manifest("Secret", "login"), after) == [
        ("data", ABSENT, {"password": HIDDEN, "user": HIDDEN, "token": HIDDEN})
    ]
    last = "kubectl.kubernetes.io/last-applied-configuration"
    annotated = [manifest("Secret", "login") | {"metadata": {"name": "login", "annotations": {last: x}}} for x in "ab"]
    assert fields(*annotated) == [(f"metadata.annotations.{last}", HIDDEN, OTHER)]


def test_secrets_in_other_objects_are_hidden() -> None:
    def deployment(value: str) -> dict[str, Any]:
        container = {"name": "web", "env": [{"name": "DB_PASSWORD", "value": value}, {"name": "MODE", "value": value}]}
        return manifest("Deployment", "web", "apps/v1", spec={"containers": [container]})

    assert fields(deployment("one"), deployment("two")) == [
        ("spec.containers.web.env.DB_PASSWORD.value", HIDDEN, OTHER),
        ("spec.containers.web.env.MODE.value", "one", "two"),
    ]
    token = "ghp_" + "a1B2" * 6
    assert fields(manifest("ConfigMap", "x"), manifest("ConfigMap", "x", data={"a": token})) == [
        ("data", ABSENT, {"a": HIDDEN})
    ]


def test_malformed_and_unnamed_objects_are_compared_too() -> None:
    changes, _ = compared([], [{"kind": 1}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "test-"}}])
    assert [str(each.id) for each in changes] == ["1 (without a name)", "Pod test-*"]
