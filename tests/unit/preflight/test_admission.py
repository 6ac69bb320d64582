"""Whether the labels of an object in a tenant's namespace prove whose it is."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.errors import Refused
from tenantry.plan.bootstrap import label_policies
from tenantry.preflight.fitness import Policed
from tests.table import table

SINCE = "2026-01-31T12:00:00Z"


def live() -> dict[ObjectId, dict[str, Any]]:
    there = {object_id(each): deepcopy(dict(each)) for each in label_policies()}
    for each in there.values():
        each["metadata"] = {**each["metadata"], "managedFields": [{"manager": "tenantry", "time": SINCE}]}
    return there


def made(at: str) -> Manifest:
    return {"kind": "ConfigMap", "metadata": {"name": "a", "creationTimestamp": at}}


@table(
    ("at", "is_proven"),
    [("2026-01-31T12:00:01Z", True), (SINCE, False), ("2026-01-30T12:00:01Z", False), ("", False)],
)
def test_an_object_is_proven_if_the_policies_are_older(at: str, *, is_proven: bool) -> None:
    assert Policed(live().get)(made(at)) is is_proven


def test_a_change_of_a_policy_counts_from_its_time_on() -> None:
    there = live()
    first = next(iter(there.values()))
    first["metadata"]["managedFields"].append({"manager": "kubectl", "time": "2026-02-28T12:00:00Z"})
    assert not Policed(there.get)(made("2026-02-01T12:00:00Z"))


@table("index", range(4))
@table("change", ["missing", "other", "undated"])
def test_without_one_of_the_policies_nothing_is_proven(index: int, change: str) -> None:
    there = live()
    id = list(there)[index]
    if change == "missing":
        del there[id]
    elif change == "undated":
        del there[id]["metadata"]["managedFields"]
    elif id.kind == "ValidatingAdmissionPolicy":
        there[id]["spec"]["validations"] = []
    else:
        there[id]["spec"]["validationActions"] = ["Warn"]
    assert not Policed(there.get)(made("2026-12-31T12:00:00Z"))


def test_what_may_not_be_read_proves_nothing() -> None:
    def refuse(_: ObjectId) -> None:
        raise Refused("no", "ask")

    assert not Policed(refuse)(made("2026-12-31T12:00:00Z"))
