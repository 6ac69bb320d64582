"""Placeholders in values whose type is narrow: taken as written, and checked once they are filled in."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.text import format_invalid
from tenantry.source.parse import parse
from tests.table import table

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub, variables: {pace: 7m, mode: warn, policy: Orphan, odd: Not_This, kind: oci}}}
clusters: {hub: {environments: [dev]}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    namespaces: {jobs: {}}
    sources:
      git: {git: {url: "https://git.example.com/r", ref: {branch: main}GIT}}
      charts: {helm: {url: "oci://charts.example.com", TYPE}}
    apps:
      web: {kustomize: {source: git, KUSTOMIZE}}
      api: {helm: {source: charts, chart: api, version: 1.x, HELM}}
"""
WRITTEN = {
    "GIT": ', interval: "{pace}", timeout: "{pace}"',
    "TYPE": 'type: "{kind}"',
    "KUSTOMIZE": 'interval: "{pace}", deletionPolicy: "{policy}", targetNamespace: "{tenant}-jobs", '
    'commonMetadata: {labels: {tier: "{env}"}}',
    "HELM": 'releaseName: "{tenant}-api", timeout: "{pace}", driftDetection: {mode: "{mode}"}',
}


def text(**changed: str) -> str:
    fleet = FLEET
    for place, written in {**WRITTEN, **changed}.items():
        fleet = fleet.replace(place, written)
    return fleet


def specs(fleet: str) -> dict[str, Any]:
    plan = plan_all(fleet_of(parse(fleet.encode(), "tenants.yaml")))["dev"]
    return {str(each.id): each.manifest.get("spec") for each in plan.objects}


def test_values_of_every_type_may_hold_placeholders() -> None:
    made = specs(text())
    source, web, api = (
        made[name] for name in ("GitRepository rocky/git", "Kustomization rocky/web", "HelmRelease rocky/api")
    )
    assert (source["interval"], source["timeout"]) == ("7m", "7m")
    assert made["HelmRepository rocky/charts"]["type"] == "oci"
    assert (web["interval"], web["deletionPolicy"], web["targetNamespace"]) == ("7m", "Orphan", "rocky-jobs")
    assert web["commonMetadata"]["labels"] == {"tier": "dev"}
    assert (api["releaseName"], api["timeout"], api["driftDetection"]["mode"]) == ("rocky-api", "7m", "warn")


@table(
    ("place", "written", "told"),
    [
        (
            "HELM",
            'releaseName: "{odd}"',
            "13:75: error[bad-name]: name 'Not_This' must be lower-case letters, digits and '-', starting and ending"
            " with a letter or digit\n  at tenants.rocky.apps.api.helm.releaseName\n"
            "  fix: write a name such as 'team-1'\n",
        ),
        (
            "HELM",
            'timeout: "{mode}"',
            "13:71: error[bad-duration]: 'warn' is not a valid duration\n  at tenants.rocky.apps.api.helm.timeout\n"
            "  fix: write it as '30s', '5m' or '1h30m'\n",
        ),
        (
            "HELM",
            'driftDetection: {mode: "{policy}"}',
            "13:85: error[bad-value]: 'Orphan' is not allowed here\n"
            "  at tenants.rocky.apps.api.helm.driftDetection.mode\n  allowed: enabled, warn, disabled\n"
            "  fix: write one of these\n",
        ),
        (
            "KUSTOMIZE",
            'deletionPolicy: "{mode}"',
            "12:54: error[bad-value]: 'warn' is not allowed here\n  at tenants.rocky.apps.web.kustomize.deletionPolicy\n"
            "  allowed: MirrorPrune, Delete, WaitForTermination, Orphan\n"
            "  fix: write one of these\n",
        ),
        (
            "KUSTOMIZE",
            'commonMetadata: {labels: {tier: "{tenant}!"}}',
            "12:70: error[bad-label]: label value 'rocky!' is not a valid label value (letters, digits, '-', '_', '.', at"
            " most 63)\n  at tenants.rocky.apps.web.kustomize.commonMetadata.labels.tier\n",
        ),
        (
            "GIT",
            ', timeout: "1h{pace}"',
            "9:83: error[bad-duration]: '1h7m' is not a valid duration here\n"
            "  at tenants.rocky.sources.git.git.timeout\n  fix: write it as '30s' or '90m': hours are not allowed here\n",
        ),
        (
            "TYPE",
            'type: "{mode}"',
            "10:62: error[bad-value]: 'warn' is not allowed here\n  at tenants.rocky.sources.charts.helm.type\n"
            "  allowed: default, oci\n"
            "  fix: write one of these\n",
        ),
    ],
)
def test_what_they_become_is_checked_where_it_stands(place: str, written: str, told: str) -> None:
    with pytest.raises(InvalidFleet) as refused:
        specs(text(**{place: written}))
    assert format_invalid(refused.value) == f"tenants.yaml:{told}Found 1 error"


@table("written", ['releaseName: "{{api}}"', "releaseName: Api", 'releaseName: "${NAME}"'])
def test_braces_alone_let_nothing_pass(written: str) -> None:
    with pytest.raises(InvalidFleet) as refused:
        specs(text(HELM=written))
    assert [each.code for each in refused.value.diagnostics] == ["bad-name"]


@table(("value", "expected"), [("{env}", True), ("a-{env}", True), ("${ENV}", False), ("{", False), (5, False)])
def test_text_with_a_placeholder_is_unfilled(value: Any, expected: bool) -> None:  # noqa: FBT001
    assert is_unfilled(value) == expected
