"""What is explained is what is planned."""

from __future__ import annotations

import pytest

from tenantry.explain import explain_app
from tenantry.plan.plan import plan
from tests.unit import texts


@pytest.mark.parametrize(
    "rest", ["", ", upgrade: {remediation: {retries: 3}}", ", upgrade: {strategy: {name: RetryOnFailure}}"]
)
def test_the_strategy_of_a_release_is_explained_as_it_is_planned(rest: str) -> None:
    fleet = texts.fleet(texts.rocky(f"web: {{helm: {{source: charts, chart: web, version: 1.x{rest}}}}}"))
    planned = plan(fleet, "dev")
    (release,) = (each for each in planned.objects if each.id == planned.apps[0].id)
    (placed,) = explain_app(fleet, planned, "rocky", "web").placed
    for action in ("install", "upgrade"):
        path = ("helm", action, "strategy", "name")
        assert [each.value for each in placed.values if each.path == path] == [
            release.manifest["spec"][action]["strategy"]["name"]
        ]


def test_each_dependency_is_explained_with_who_keeps_the_order() -> None:
    apps = """
        db: {kustomize: {source: manifests}}
        cache: {helm: {source: charts, chart: c, version: 1.x}}
        idle: {helm: {source: charts, chart: c, version: 1.x}, state: paused}
        web: {kustomize: {source: manifests}, dependsOn: [db, cache, idle]}
    """
    fleet = texts.fleet(texts.rocky(apps))
    (placed,) = explain_app(fleet, plan(fleet, "dev"), "rocky", "web").placed
    assert placed.order == {"db": "flux", "cache": "pulumi", "idle": "nobody"}
