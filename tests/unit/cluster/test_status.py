"""What is told of an app whose object somebody else has changed."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.apps import statuses
from tenantry.cluster.status import Readiness, ready_message
from tests.table import table
from tests.unit.texts import planned, rocky

PLAN = planned(rocky("web: {kustomize: {source: manifests}}"))
APP = next(dict(each.manifest) for each in PLAN.objects if each.id == PLAN.apps[0].id)


@table(
    "rest",
    [
        {"spec": None},
        {"spec": "text"},
        {"status": None},
        {"status": "text"},
        {"status": {"conditions": "text"}},
        {"status": {"conditions": ["text", {}, {"type": "Ready"}], "history": "text"}},
        {"status": {"conditions": [{"type": "Ready"}], "history": ["text"], "lastAppliedRevision": None}},
    ],
    ids=str,
)
def test_a_malformed_object_is_not_ready_and_ends_nothing(rest: dict[str, Any]) -> None:
    (found,) = statuses(PLAN, [{**APP, **rest}])
    assert found.readiness in (Readiness.PROGRESSING, Readiness.FAILED)
    assert found.revision == ""
    assert ready_message({**APP, **rest}) == ""


@table("other", [{}, {"metadata": None}, {"metadata": {"name": "web"}}, {"kind": "Kustomization"}])
def test_what_cannot_be_told_from_others_is_passed_over(other: dict[str, Any]) -> None:
    (found,) = statuses(PLAN, [other])
    assert found.readiness is Readiness.MISSING


def test_an_app_that_no_controller_has_touched_names_its_shard() -> None:
    labels = {**APP["metadata"]["labels"], "sharding.fluxcd.io/key": "a"}
    untouched = {**APP, "metadata": {**APP["metadata"], "labels": labels}, "status": {"observedGeneration": -1}}
    (found,) = statuses(PLAN, [untouched])
    expected = "no controller of shard a has reconciled it yet: check with `tenantry preflight -e dev`"
    assert (found.readiness, found.message) == (Readiness.PROGRESSING, expected)
