"""Which CRDs of a chart Flux applies: the specs before and after decide, and what the charts hold."""

from __future__ import annotations

from typing import Any

from tenantry.manifests.helm import applied_crds
from tests.table import table

SKIP = {"install": {"crds": "Skip"}, "upgrade": {"crds": "Skip"}}
OLD, NEW = {"a": 1, "gone": 1}, {"a": 2, "b": 2}


def crds(versions: dict[str, int]) -> list[dict[str, Any]]:
    kind = "CustomResourceDefinition"
    found = [{"kind": kind, "metadata": {"name": name}, "spec": version} for name, version in versions.items()]
    return [*found, {"kind": "ConfigMap", "metadata": {"name": "x"}, "spec": 1}]


@table(
    ("before", "after", "there", "then"),
    [
        (None, {}, {}, NEW),
        (None, {"install": {"crds": "Skip"}}, {}, {}),
        # The field is deprecated, and helm-controller no longer reads it.
        (None, {"install": {"skipCRDs": True}}, {}, NEW),
        ({}, None, OLD, OLD),
        ({}, {}, OLD, {"a": 1, "b": 2, "gone": 1}),
        ({}, {"upgrade": {"crds": "Create"}}, OLD, {"a": 1, "b": 2, "gone": 1}),
        ({}, {"upgrade": {"crds": "Skip"}}, OLD, OLD),
        ({}, {"upgrade": {"crds": "CreateReplace"}}, OLD, {"a": 2, "b": 2, "gone": 1}),
        (SKIP, {}, {}, NEW),
        (SKIP, SKIP, {}, {}),
        ({"install": {"crds": "Skip"}}, {}, OLD, {"a": 1, "b": 2, "gone": 1}),
    ],
    ids=str,
)
def test_flux_creates_what_is_missing_and_replaces_only_if_told(
    before: dict[str, Any] | None, after: dict[str, Any] | None, there: dict[str, int], then: dict[str, int]
) -> None:
    found = applied_crds(before, after, (crds(OLD), crds(NEW)))
    assert [{each["metadata"]["name"]: each["spec"] for each in side} for side in found] == [there, then]
