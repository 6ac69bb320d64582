"""What `explain` says of an app's rollout."""

from __future__ import annotations

from tenantry.explain import explain_app
from tenantry.explain.app import AppRollout, AppWave
from tenantry.plan.plan import plan
from tests.unit import texts
from tests.unit.rollout.test_waves import APPS, CANARY, fleet

WAVES = f"{{waves: [{CANARY}, {{percent: 50}}, {{all: true}}]}}"


def rollout(text: str, app: str = "web") -> AppRollout | None:
    found = texts.fleet(text)
    return explain_app(found, plan(found, "dev"), "rocky", app).rollout


def test_the_waves_of_the_environment_with_the_clusters_of_the_app() -> None:
    found = rollout(
        fleet(
            WAVES, APPS.replace("web: {", "web: {clusters: {names: [edge-1, edge-2, edge-3]}, "), states={3: "paused"}
        )
    )
    assert found
    assert (found.of, found.total, found.bypass) == ("environment", 3, "branch main")
    assert found.waves == (AppWave(1, "wave 1", ("edge-1",), ()), AppWave(3, "wave 3", ("edge-2",), ("edge-3",)))


def test_how_much_a_wave_tolerates() -> None:
    waves = f"{{waves: [{CANARY}, {{all: true, tolerate: {{failed: 1, unreachable: 20%}}}}]}}"
    found = rollout(fleet(waves))
    assert found
    assert [each.tolerate for each in found.waves] == ["", "failed 1, unreachable 20%"]


def test_an_app_that_keeps_out_of_the_waves() -> None:
    found = rollout(fleet(WAVES, APPS.replace("{source: m}}", "{source: m}, rollout: false}")))
    assert found
    assert (found.of, found.total, found.bypass) == ("off", 0, "")
    follows = rollout(fleet(WAVES, APPS.replace("{source: m}}", "{source: m}, rollout: null}")))
    assert follows
    assert (follows.of, follows.total) == ("environment", 3)


def test_a_chart_of_one_version_is_not_bypassed() -> None:
    found = rollout(fleet(WAVES), "db")
    assert found
    assert found.bypass == ""
    assert rollout(fleet("")) is None
