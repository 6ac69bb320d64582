"""Which releases are upgraded where their chart gets another name."""

from __future__ import annotations

from tenantry.plan.plan import Plan
from tests.unit.texts import planned, rocky

DNS = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
APPS = (
    "db: {helm: {source: charts, chart: db, version: 1.x}}\n"
    "own: {helm: {source: charts, chart: db, version: 2.x, upgrade: {chartNameChangeStrategy: InPlaceUpdate}}}"
)
BASE = rocky(APPS, "clusters: {all: true}").replace("platform: {", f"platform: {{addons: {{dns: {DNS}}}, ")
PLAN = planned(BASE)
PLATFORM = {"edge-rocky-baseline", "edge-dns", "dns"}


def set_in(plan: Plan) -> set[str]:
    return {
        each.id.name
        for each in plan.objects
        if each.id.kind == "HelmRelease" and "chartNameChangeStrategy" in each.manifest["spec"]["upgrade"]
    }


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
