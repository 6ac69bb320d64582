"""A Flux that does not know `upgrade.chartNameChangeStrategy`: the platform's releases do without."""

from __future__ import annotations

from typing import Any

from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import fitted, no_in_place, serves_in_place
from tests.unit.memory import Memory
from tests.unit.preflight.clusters import definition
from tests.unit.texts import planned, rocky

DNS = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
APPS = (
    "db: {helm: {source: charts, chart: db, version: 1.x}}\n"
    "own: {helm: {source: charts, chart: db, version: 2.x, upgrade: {chartNameChangeStrategy: InPlaceUpdate}}}"
)
BASE = rocky(APPS, "clusters: {all: true}").replace("platform: {", f"platform: {{addons: {{dns: {DNS}}}, ")
PLAN = planned(BASE)
PLATFORM = {"edge-rocky-baseline", "edge-dns", "dns"}


def old() -> dict[str, Any]:
    found = definition()
    spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["upgrade"]["properties"]["chartNameChangeStrategy"]
    return found


def set_in(plan: Plan) -> set[str]:
    return {
        each.id.name
        for each in plan.objects
        if each.id.kind == "HelmRelease" and "chartNameChangeStrategy" in each.manifest["spec"]["upgrade"]
    }


def with_definition(found: dict[str, Any] | None) -> Memory:
    memory = Memory()
    if found:
        memory.objects[
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/helmreleases.helm.toolkit.fluxcd.io"
        ] = found
    return memory


def test_the_platform_s_releases_have_it_and_apps_only_if_their_author_says_so() -> None:
    assert set_in(PLAN) == PLATFORM | {"edge-rocky-own", "own"}


def test_an_author_of_an_addon_may_say_otherwise() -> None:
    text = BASE.replace(
        "chart: dns, version: 1.x", "chart: dns, version: 1.x, upgrade: {chartNameChangeStrategy: Reinstall}"
    )
    found = {
        each.id.name: each.manifest["spec"]["upgrade"]
        for each in planned(text).objects
        if each.id.kind == "HelmRelease"
    }
    assert found["edge-dns"]["chartNameChangeStrategy"] == "Reinstall"


def test_where_it_is_known_the_plan_stays_as_it_is() -> None:
    for found in (definition(), {"spec": {"versions": [{"name": "v2", "served": True}]}}, None):
        with with_definition(found).client() as client:
            assert fitted(client, PLAN) is PLAN


def test_where_it_is_not_known_the_platform_s_releases_lack_it() -> None:
    with with_definition(old()).client() as client:
        assert set_in(fitted(client, PLAN)) == {"edge-rocky-own", "own"}


def test_preflight_warns_where_the_field_is_left_out() -> None:
    problem = no_in_place()
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "warning",
        "no-in-place",
        "HelmRelease has no field 'spec.upgrade.chartNameChangeStrategy' on the cluster, so runs leave it out: if the chart of a"
        " baseline or add-on gets another name in its repository, Flux uninstalls what it installed and installs it anew",
        "upgrade Flux's helm-controller: v1.6.4 knows the field",
    )
    assert serves_in_place({})
