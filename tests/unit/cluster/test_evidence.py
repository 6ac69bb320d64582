"""Evidence that an environment runs an app as the file says, from the objects on its management cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.cluster.evidence import Evidence, judged
from tenantry.kube.objects import object_id
from tenantry.plan.engine_order import Chains
from tenantry.rollout.readiness import reconcilers_of
from tests.unit.texts import planned

NOW = datetime(2026, 1, 1, 11, 30, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("plans_once")

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub-dev}}
clusters: {hub-dev: {environments: [dev]}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps: {web: {helm: {source: charts, chart: web, version: 2.1.0}}}
"""


def live(app: str, **changes: Any) -> Evidence:
    """The evidence of an app that Flux has installed as planned. Args: changes: of the chart's spec."""
    plan = planned(FLEET)
    (placed,) = (each for each in plan.apps if each.name == app)
    chain = Chains(plan).of(placed.id)
    found = []
    for each in chain:
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T10:00:00Z"}
        status: dict[str, Any] = {"observedGeneration": 1, "conditions": [ready]}
        if each["kind"] == "HelmChart":
            status["artifact"] = {"revision": "2.1.0", "lastUpdateTime": "2026-01-01T11:00:00Z"}
        if each["kind"] == "HelmRelease":
            version = changes.get("applied", "2.1.0")
            status["history"] = [{"chartVersion": version, "lastDeployed": "2026-01-01T11:00:00Z"}]
            status["lastAttemptedRevision"] = version
        spec = {**each["spec"], "extra": "a default"}
        if each["kind"] == "HelmChart" and "version" in changes:
            spec["version"] = changes["version"]
        if each["kind"] == "HelmRelease" and "status" in changes:
            ready |= {"status": changes["status"], "message": "upgrade failed\x1b[2J"}
        metadata = {**each["metadata"], "generation": 1}
        found.append({**each, "metadata": metadata, "spec": spec, "status": status})
    live = {object_id(each): each for each in found}
    return judged(placed, chain, reconcilers_of(plan)[placed.id], live, NOW)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"version": "2.0.0"}, "HelmChart rocky/charts-web-3fc32bc0 has version 2.0.0, not 2.1.0"),
        ({"status": "False"}, "HelmRelease rocky/web is failed: upgrade failed\\x1b[2J"),
        ({"applied": "2.0.9"}, "HelmRelease rocky/web is progressing: Flux has not applied 2.1.0 yet"),
    ],
)
def test_evidence_says_what_is_not_as_in_the_file(changes: dict[str, Any], problem: str) -> None:
    assert live("web", **changes).problem == problem


def test_soak_counts_from_the_last_change() -> None:
    now = NOW
    assert live("web").problem_after(1800, now) == ""
    assert live("web").problem_after(3600, now) == "ready for 1800 s, which is less than 3600 s"
