"""What is explained is what is planned."""

from __future__ import annotations

from pathlib import Path

from tenantry.explain import explain_addon, explain_app, explain_tenant
from tenantry.load import load_fleet, plan_all
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part
from tests.table import table
from tests.unit import texts

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


@table("rest", ["", ", upgrade: {remediation: {retries: 3}}", ", upgrade: {strategy: {name: RetryOnFailure}}"])
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


@table("file", sorted(GOLDEN.glob("*/tenants.yaml")), ids=lambda file: file.parent.name)
def test_an_answer_from_a_part_of_the_plan_is_that_from_the_whole(file: Path) -> None:
    loaded = load_fleet(file)
    for environment, whole in plan_all(loaded).items():
        for app in whole.apps:
            if app.tenant:
                part = plan(loaded, environment, Part(app.tenant, app.cluster))
                expected = explain_app(loaded, whole, app.tenant, app.name, app.cluster)
                assert explain_app(loaded, part, app.tenant, app.name, app.cluster) == expected
            else:
                part = plan(loaded, environment, Part("", app.cluster))
                assert explain_addon(loaded, part, app.name, app.cluster) == explain_addon(
                    loaded, whole, app.name, app.cluster
                )
        for tenant in loaded.document.tenants:
            expected_tenant = explain_tenant(loaded, whole, tenant)
            assert explain_tenant(loaded, plan(loaded, environment, Part(tenant)), tenant) == expected_tenant


def test_each_add_on_that_a_tenant_waits_for_is_explained_with_who_keeps_the_order() -> None:
    text = texts.rocky(
        "web: {kustomize: {source: manifests}}", "clusters: {all: true}\ndependsOn: [platform/dns, platform/certs]\n"
    )
    addons = """, addons: {
      dns: {clusters: {all: true}, source: {git: {url: https://git.example.com/a, ref: {tag: v1}}}, kustomize: {}},
      certs: {clusters: {all: true}, source: {helm: {url: https://c.example.com}}, helm: {chart: c, version: 1.0.0}}}}
"""
    fleet = texts.fleet(text.replace("version: 0.1.0}}}\n", "version: 0.1.0}}" + addons))
    tenant = explain_tenant(fleet, plan(fleet, "dev"), "rocky")
    assert tenant.order == {
        "hub": {"platform/dns": "pulumi", "platform/certs": "pulumi"},
        "edge": {"platform/dns": "pulumi", "platform/certs": "flux"},
    }
    assert [each.value for each in tenant.settings if each.path[0] == "dependsOn"] == [
        ["platform/dns", "platform/certs"]
    ]
