"""Explaining any sound fleet: it agrees with the plan, whatever the levels say."""

from __future__ import annotations

from hypothesis import given, settings

from tenantry.explain import explain_addon, explain_app, explain_platform, explain_tenant
from tenantry.load import fleet_of
from tenantry.plan.plan import plan
from tenantry.source.parse import parse
from tests.strategies import Data, fleets, shared_hubs, text_of


@settings(max_examples=20, deadline=None)
@given(fleets() | shared_hubs())
def test_apps_and_add_ons_are_explained_where_the_plan_puts_them(data: Data) -> None:
    fleet = fleet_of(parse(text_of(data), "f"))
    for environment in fleet.environments:
        planned = plan(fleet, environment)
        expected = {(app.tenant, app.name, app.cluster, str(app.id)) for app in planned.apps}
        explained = [
            explain_app(fleet, planned, tenant, app)
            for tenant, declared in fleet.document.tenants.items()
            for app in declared.apps
        ] + [explain_addon(fleet, planned, addon) for addon in fleet.document.platform.addons]
        assert expected == {
            (app.tenant, app.name, placed.cluster, placed.object) for app in explained for placed in app.placed
        }
        assert {app.name for app in planned.apps if not app.tenant} == {
            addon for addon, choice in explain_platform(fleet, planned).addons.items() if choice.clusters
        }
        for tenant in fleet.document.tenants:
            told = explain_tenant(fleet, planned, tenant)
            assert {each.cluster for each in planned.placements if each.tenant == tenant} == {
                namespace.path[0] for namespace in told.namespaces
            }


@settings(max_examples=20, deadline=None)
@given(fleets())
def test_times_that_are_shown_are_those_of_the_object(data: Data) -> None:
    fleet = fleet_of(parse(text_of(data), "f"))
    for environment in fleet.environments:
        planned = plan(fleet, environment)
        specs = {str(each.id): each.manifest["spec"] for each in planned.objects if "spec" in each.manifest}
        for tenant, declared in fleet.document.tenants.items():
            for app in declared.apps:
                for placed in explain_app(fleet, planned, tenant, app).placed:
                    shown = {
                        each.path[1:]: each.value for each in placed.values if each.path[0] in ("kustomize", "helm")
                    }
                    spec = specs[placed.object]
                    assert (spec["interval"], spec["timeout"]) == (shown["interval",], shown["timeout",])
