"""Add-ons that each environment of a cluster has of its own."""

from __future__ import annotations

from tenantry.explain import explain_addon
from tenantry.load import plan_all
from tenantry.plan.plan import plan
from tests.unit.texts import fleet, planned, problems

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}"}
  qa: {management: hub, namespace: "{env}-{tenant}"}
  dev-1: {extends: dev, tenants: [rocky]}
clusters:
  hub: {environments: [dev-1, dev, qa]}
  edge: {environments: [qa, dev], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  addons:
    operator: {clusters: {all: true}, source: {helm: {url: https://c.example.com}}, helm: {chart: o, version: 1.x}}
    redis:
      scope: environment
      clusters: {all: true}
      source: {helm: {url: https://c.example.com}}
      helm: {chart: redis, version: 1.x, targetNamespace: "{env}-redis"}
      dependsOn: [operator]
tenants:
  rocky:
    clusters: {all: true}
    sources: {c: {helm: {url: https://c.example.com}}}
    apps: {web: {helm: {source: c, chart: web, version: 1.x}, dependsOn: [platform/redis]}}
"""


def releases(text: str, environment: str) -> dict[str, tuple[str, str]]:
    """The releases of the add-ons: their objects, with the name and the target namespace of each."""
    return {
        each.id.name: (each.manifest["spec"]["releaseName"], each.manifest["spec"]["targetNamespace"])
        for each in planned(text, environment).objects
        if each.id.kind == "HelmRelease" and not each.owner.tenant
    }


def test_each_environment_of_a_cluster_has_its_own_and_a_release_environment_has_none() -> None:
    text = FLEET.split("tenants:\n  rocky")[0] + "tenants: {rocky: {}}\n"
    assert releases(text, "dev") == {
        "operator": ("operator", "tenantry-system"),
        "dev-redis": ("dev-redis", "dev-redis"),
        "edge-dev-redis": ("dev-redis", "dev-redis"),
    }
    assert releases(text, "qa") == {
        "edge-operator": ("operator", "tenantry-system"),
        "qa-redis": ("qa-redis", "qa-redis"),
        "edge-qa-redis": ("qa-redis", "qa-redis"),
    }
    assert releases(text, "dev-1") == {}
    assert set(plan_all(fleet(text))) == {"dev", "qa", "dev-1"}


def test_its_objects_share_no_name_with_those_of_another_environment() -> None:
    text = FLEET.split("tenants:\n  rocky")[0] + "tenants: {rocky: {}}\n"
    of = {
        environment: {each.id for each in planned(text, environment).objects if "redis" in each.id.name}
        for environment in ("dev", "qa")
    }
    assert of["dev"]
    assert not of["dev"] & of["qa"]


def test_apps_wait_for_the_one_of_their_environment_and_it_for_add_ons_of_the_cluster() -> None:
    text = FLEET.replace("hub: {environments: [dev-1, dev, qa]}", "hub: {environments: [dev, qa]}").replace(
        "  dev-1: {extends: dev, tenants: [rocky]}\n", ""
    )
    for environment in ("dev", "qa"):
        waiting = {
            each.id.name: [one["name"] for one in each.manifest["spec"].get("dependsOn", ())]
            for each in planned(text, environment).objects
            if each.id.kind == "HelmRelease"
        }
        assert waiting[f"{environment}-redis"] == ["operator"]
        assert waiting[f"edge-{environment}-redis"] == ["edge-operator"]
        assert waiting["web"] == [f"{environment}-redis"]
        assert f"edge-{environment}-redis" in waiting[f"edge-{environment}-rocky-web"]


def test_explain_names_the_environments_of_the_cluster_that_have_it() -> None:
    text = FLEET.split("tenants:\n  rocky")[0] + "tenants: {rocky: {}}\n"
    known = fleet(text)
    taken = {each: explain_addon(known, plan(known, each), "redis").choice.clusters for each in ("dev", "qa", "dev-1")}
    assert taken == {"dev": ("hub", "edge"), "qa": ("hub", "edge"), "dev-1": ()}


def test_two_environments_with_one_release_name_are_one_problem() -> None:
    text = (FLEET.split("tenants:\n  rocky")[0] + "tenants: {rocky: {}}\n").replace(
        'targetNamespace: "{env}-redis"', "releaseName: redis"
    )
    told = problems(text)
    assert "error[planned-twice]: environments 'dev' and 'qa' would both create release 'redis'" in told
    assert told.endswith("Found 1 error\n")


def test_an_add_on_of_the_cluster_cannot_wait_for_one_that_each_environment_has() -> None:
    text = (FLEET.split("tenants:\n  rocky")[0] + "tenants: {rocky: {}}\n").replace("      dependsOn: [operator]\n", "")
    told = problems(text.replace("version: 1.x}}\n    redis", "version: 1.x}, dependsOn: [redis]}\n    redis"))
    assert "error[dependency" in told


def test_namespaces_that_it_owns_are_named_after_the_environment_or_meet() -> None:
    alone = FLEET.split("tenants:\n  rocky")[0] + "tenants: {rocky: {}}\n"
    apart = alone.replace("      dependsOn: [operator]\n", '      namespaces: {"{env}-redis": {}}\n')
    assert releases(apart, "qa")["edge-qa-redis-namespaces"] == ("qa-redis-namespaces", "tenantry-system")
    assert set(plan_all(fleet(apart))) == {"dev", "qa", "dev-1"}
    told = problems(alone.replace("      dependsOn: [operator]\n", "      namespaces: {redis: {}}\n"))
    assert "error[planned-twice]: environments 'dev' and 'qa' would both create" in told
    assert "namespace" in told.lower()
    assert told.endswith("Found 1 error\n")
