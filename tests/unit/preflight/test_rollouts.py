"""What is told before a run about the first wave of a rollout."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tenantry.kube.objects import Manifest
from tenantry.preflight.rollouts import check_rollout
from tests.table import table
from tests.unit.texts import planned, rocky

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}").replace(
    "dev: {management: hub}", "dev: {management: hub, waves: [{name: canary, names: [edge]}, {all: true}]}"
)
PAUSED = TEXT.replace("edge: {environments", "edge: {state: paused, environments")
ALL_PAUSED = PAUSED.replace("names: [edge]", "names: [edge, third]").replace(
    "clusters:\n",
    "clusters:\n  third: {state: paused, environments: [dev],"
    " kubeconfig: {kamaji: {controlPlane: third, namespace: kamaji}}}\n",
    1,
)


def live(text: str, status: str) -> list[Manifest]:
    """The app on the remote cluster, as Flux says."""
    condition: dict[str, Any] = {
        "type": "Ready",
        "status": status,
        "reason": "Failed",
        "message": "no\x1b[0m such path",
    }
    return [
        {
            **each.manifest,
            "metadata": {**each.manifest["metadata"], "generation": 1},
            "status": {"observedGeneration": 1, "conditions": [condition]},
        }
        for each in planned(text).objects
        if each.id.kind == "Kustomization" and each.owner.cluster == "edge"
    ]


@table(
    ("text", "status", "expected"),
    [
        (TEXT, "True", []),
        (TEXT.replace("{all: true}]}", "{all: true}], tolerate: 1}"), "False", []),
        (
            TEXT,
            "False",
            [
                "the first wave of environment 'dev' has failed already: edge rocky/web: no\\x1b[0m such path",
            ],
        ),
        (
            PAUSED,
            "True",
            ["nothing waits for the first wave of environment 'dev': edge is paused or decommissioned"],
        ),
        (
            ALL_PAUSED,
            "True",
            ["nothing waits for the first wave of environment 'dev': edge, third are paused or decommissioned"],
        ),
    ],
    ids=["ready", "tolerated", "failed", "paused", "all paused"],
)
def test_a_first_wave_that_shows_nothing_is_told(text: str, status: str, expected: list[str]) -> None:
    assert [each.message for each in check_rollout(planned(text), live(text, status), NOW)] == expected
