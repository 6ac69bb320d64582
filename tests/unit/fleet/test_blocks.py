"""`kustomize:` and `helm:` take every key of Flux's spec, save those that the fleet sets or that would read a cluster's keys."""

from __future__ import annotations

from typing import Any

from tenantry.load import fleet_of, plan_all
from tenantry.source.parse import parse
from tests.table import table

FLEET = """\
apiVersion: tenantry/v1
environments: {{dev: {{management: hub}}}}
clusters: {{hub: {{environments: [dev]}}}}
tenants:
  rocky:
    clusters: {{all: true}}
    sources:
      manifests: {{git: {{url: "https://git.example.com/rocky", ref: {{branch: main}}}}}}
      charts: {{helm: {{url: "https://charts.example.com"}}}}
    apps:
      web: {app}
"""


def fleet(app: str) -> bytes:
    return FLEET.format(app=app).encode()


def spec(app: str) -> dict[str, Any]:
    """The spec of the app's object on hub."""
    plan = plan_all(fleet_of(parse(fleet(app), "tenants.yaml")))["dev"]
    (planned,) = (each for each in plan.objects if each.id == plan.apps[0].id)
    result: dict[str, Any] = planned.manifest["spec"]
    return result


def test_keys_that_mean_nothing_to_the_fleet_reach_flux() -> None:
    checks = "[{apiVersion: apps/v1, kind: Deployment, name: web, namespace: rocky}]"
    app = f"{{kustomize: {{source: manifests, ignoreMissingComponents: true, healthChecks: {checks}}}}}"
    assert spec(app)["ignoreMissingComponents"] is True
    assert spec(app)["healthChecks"] == [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "rocky"}
    ]


def test_what_the_fleet_says_of_an_action_is_completed_and_not_replaced() -> None:
    app = "{helm: {source: charts, chart: web, version: 1.x, install: {crds: Skip}, driftDetection: {ignore: [{paths: [/a]}]}}}"
    assert spec(app)["install"] == {"strategy": {"name": "RetryOnFailure", "retryInterval": "30s"}, "crds": "Skip"}
    assert spec(app)["driftDetection"] == {"mode": "enabled", "ignore": [{"paths": ["/a"]}]}


ROLLBACK = "remediation: {retries: 3, strategy: rollback}"
RETRIES = {"name": "RetryOnFailure", "retryInterval": "30s"}
REMEDIATES = {"name": "RemediateOnFailure"}


def strategies(block: str, rest: str = "") -> tuple[object, object]:
    """What the release does after a failed install, and after a failed upgrade."""
    release = spec(f"{{helm: {{source: charts, chart: web, version: 1.x, {block}}}{rest}}}")
    return release["install"]["strategy"], release["upgrade"]["strategy"]


@table(
    ("block", "rest", "expected"),
    [
        ("", "", (RETRIES, RETRIES)),
        (f"upgrade: {{{ROLLBACK}}}", "", (RETRIES, REMEDIATES)),
        ("install: {remediation: {retries: 3}}", "", (REMEDIATES, RETRIES)),
        (
            "",
            f", overrides: [{{when: {{environments: [dev]}}, helm: {{upgrade: {{{ROLLBACK}}}}}}}]",
            (RETRIES, REMEDIATES),
        ),
        (
            "",
            f", overrides: [{{when: {{clusters: {{names: [hub]}}}}, helm: {{upgrade: {{{ROLLBACK}}}}}}}]",
            (RETRIES, REMEDIATES),
        ),
        (
            f"upgrade: {{{ROLLBACK}}}",
            ", overrides: [{when: {clusters: {names: [hub]}}, helm: {upgrade: {remediation: null}}}]",
            (RETRIES, RETRIES),
        ),
        (
            f"upgrade: {{{ROLLBACK}, strategy: {{name: RetryOnFailure, retryInterval: 1m}}}}",
            "",
            (RETRIES, {"name": "RetryOnFailure", "retryInterval": "1m"}),
        ),
    ],
)
def test_a_requested_remediation_is_not_switched_off_by_a_strategy_that_nobody_wrote(
    block: str, rest: str, expected: object
) -> None:
    assert expected == strategies(block, rest)


@table(
    ("block", "wait"),
    [
        ("", True),
        ("healthChecks: []", True),
        ("healthChecks: [{kind: Deployment, name: web, namespace: rocky}]", False),
        ("healthChecks: [{kind: Deployment, name: web, namespace: rocky}], wait: true", True),
    ],
)
def test_named_health_checks_are_not_switched_off_by_a_wait_that_nobody_wrote(block: str, *, wait: bool) -> None:
    assert spec(f"{{kustomize: {{source: manifests, {block}}}}}")["wait"] is wait


def test_an_override_may_bring_what_a_mapping_lacks() -> None:
    app = (
        "{helm: {source: charts, chart: web, version: 1.x, waitStrategy: {}},"
        " overrides: [{when: {clusters: {names: [hub]}}, helm: {waitStrategy: {name: legacy}}}]}"
    )
    assert spec(app)["waitStrategy"] == {"name": "legacy"}
