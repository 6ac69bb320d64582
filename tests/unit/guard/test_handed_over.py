"""Namespaces that tenants have from others, with their apps: objects keep their names, and nothing else is permitted by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenantry.guard import RunLimits, held, refusals
from tenantry.guard.held import Held
from tenantry.messages.errors import InvalidFleet
from tenantry.plan.plan import Plan
from tests.unit.texts import planned

PROTECTED = RunLimits(protected=True, deletions=0, adopting=frozenset({"nova"}))
FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {secret: {namespace: clusters, name: edge, key: value}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.3.0}}}
defaults: {clusters: {names: [edge]}, quota: {pods: 5}}
tenants:
"""
MOVY = """\
  movy:
    namespaces: {%s}
    sources: {charts: {helm: {url: "https://charts.example.com/movy"}}}
    apps: {web: {helm: {source: charts, chart: web, version: 1.x}}%s}
"""
NOVA = """\
  nova:
    adopt: true
    namespaces: {%s}
    sources: {charts: {helm: {url: "https://charts.example.com/movy"}}}
    apps: {%s}
"""
SHOP = "shop: {%shelm: {source: charts, chart: shop, version: 1.x, targetNamespace: shop, storageNamespace: shop}}"
GIVEN = "shop: {formerly: [{tenant: movy, apps: [shop]}]}"
BEFORE = FLEET + MOVY % ("shop: {}", f", {SHOP % ''}")
AFTER = FLEET + MOVY % ("", "") + NOVA % (GIVEN, SHOP % "")
APP = "HelmRelease clusters/edge-movy-shop"


def told(text: str, there: Held, limits: RunLimits = PROTECTED) -> list[str]:
    plan = planned(text)
    return [each.message for each in refusals(plan, there.with_new_owners(plan), limits)]


def now(text: str) -> Held:
    return held((each.manifest for each in planned(text).objects), "dev")


def spec_of(plan: Plan, name: str) -> dict[str, object]:
    return next(each.manifest["spec"] for each in plan.objects if str(each.id) == name)


def test_the_app_keeps_its_object_and_its_place() -> None:
    one, other = spec_of(planned(BEFORE), APP), spec_of(planned(AFTER), APP)
    assert {key for key in one if one[key] != other[key]} == {"chartRef", "dependsOn", "serviceAccountName"}
    assert (other["storageNamespace"], other["targetNamespace"]) == ("movy-shop", "movy-shop")


def test_a_protected_environment_lets_it_change_hands_and_nothing_more() -> None:
    there = now(BEFORE)
    assert told(AFTER, there) == []
    (lost,) = told(FLEET + MOVY % ("", "") + NOVA % (GIVEN, SHOP.replace("shop: {%s", "cart: {%s") % ""), there)
    assert "app 'shop' of tenant 'movy'" in lost
    (lost,) = told(AFTER.replace("apps: [shop]", "apps: []"), there)
    assert "app 'shop' of tenant 'movy'" in lost


def test_it_comes_back() -> None:
    back = "shop: {formerly: [{tenant: movy, apps: [shop]}, {tenant: nova}]}"
    again = (
        FLEET + (MOVY % (back, f", {SHOP % ''}")).replace("  movy:\n", "  movy:\n    adopt: true\n") + "  nova: {}\n"
    )
    limits = replace(PROTECTED, adopting=frozenset({"movy"}))
    assert told(again, now(AFTER), limits) == []
    assert spec_of(planned(again), APP) == spec_of(planned(BEFORE), APP)


def test_a_former_tenant_stays_where_its_apps_are_until_it_is_removed() -> None:
    alone = FLEET + (MOVY % ("shop: {}", "")).replace(
        "{web: {helm: {source: charts, chart: web, version: 1.x}}}", "{%s}" % (SHOP % "")
    )
    given = FLEET + "  movy: {}\n" + NOVA % (GIVEN, SHOP % "")
    assert {(each.tenant, each.cluster) for each in planned(given).placements} == {("movy", "edge"), ("nova", "edge")}
    assert told(given, now(alone)) == []
    gone = FLEET + NOVA % (GIVEN, SHOP % "")
    refused = told(
        gone, now(alone), RunLimits(protected=False, deletions=9, adopting=frozenset({"nova"}), emptying=True)
    )
    assert any("would go in the run that gives namespace 'movy-shop'" in each for each in refused)
    assert [each for each in told(gone, now(given)) if "tenant 'movy'" not in each] == []


def test_on_a_management_cluster_an_app_cannot_change_hands() -> None:
    text = AFTER.replace(f"{{{SHOP % ''}}}", f"{{{SHOP % 'clusters: {names: [hub]}, '}}}")
    assert text != AFTER
    with pytest.raises(InvalidFleet) as refused:
        planned(text)
    assert [each.code for each in refused.value.diagnostics] == ["came-from-another"]


def test_former_names_of_the_tenant_count_too() -> None:
    text = AFTER.replace("  movy:\n", "  vega:\n    formerly: [movy]\n")
    assert told(text, now(BEFORE)) == []
