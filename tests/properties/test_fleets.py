"""Every promise about one drawn fleet, about two of them, and about fleets whose environments share a management cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from tenantry.facts.objects import difference, differences
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.load import plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.plan.bootstrap import bootstrap
from tests.drawn import given, one_in
from tests.properties import promises
from tests.properties.promises import by_id, load, plans
from tests.strategies import Data, fleets, shared_hubs, shuffled


@one_in(2)
@given(st.data())
def test_a_fleet_keeps_every_promise(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    before = promises.planned(fleet)
    loaded, planned = before
    assert loaded is not None
    for plan in planned.values():
        for promise in promises.OF_A_PLAN:
            promise(plan)
        promises.manifests_of_tenants_go_to_their_namespaces_and_those_of_add_ons_where_they_say(fleet, plan)
        promises.subjects_are_explained_where_the_plan_puts_them(loaded, plan)
        promises.times_that_are_shown_are_those_of_the_object(loaded, plan)
    other = promises.planned(data.draw(shuffled(fleet)))
    promises.the_order_of_keys_changes_no_object_and_makes_no_difference(before, other)
    if fleet["tenants"]:
        tenant = data.draw(st.sampled_from(sorted(fleet["tenants"])))
        tenants = {name: each for name, each in fleet["tenants"].items() if name != tenant}
        smaller = promises.planned({**fleet, "tenants": tenants})
        promises.removing_a_tenant_removes_what_is_its_own_and_touches_nothing_else(tenant, planned, smaller.plans)
        promises.removing_a_tenant_is_told_of_that_tenant_alone(tenant, before, smaller)


@one_in(3)
@given(fleets(), fleets())
def test_a_difference_leads_from_one_fleet_to_the_other_and_back(one: Data, other: Data) -> None:
    before, after = plans(one), plans(other)
    there = {found.environment: found for found in differences(before, after)}
    back = {found.environment: found for found in differences(after, before)}
    assert there.keys() == back.keys()
    for name, found in there.items():
        assert (_ids(found.removed), _ids(found.added)) == (_ids(back[name].added), _ids(back[name].removed))
        assert {each.id for each in found.changed} == {each.id for each in back[name].changed}
    for name in before.keys() & after.keys():
        found = difference(before[name], after[name])
        objects: dict[Any, Any] = {each.id: each.manifest for each in before[name].objects}
        for gone in found.removed:
            del objects[gone.id]
        objects |= {each.id: each.manifest for each in found.added}
        objects |= {each.id: each.after.manifest for each in found.changed}
        assert objects == {each.id: each.manifest for each in after[name].objects}
        assert all(each.fields for each in found.changed)


@one_in(3)
@given(shared_hubs())
def test_environments_of_one_management_cluster_share_no_object_and_bind_the_platform_s_accounts(fleet: Data) -> None:
    loaded = load(fleet)
    planned = plan_all(loaded)
    objects: set[ObjectId] = set()
    elsewhere: set[tuple[str, ...]] = set()
    for plan in planned.values():
        own = {object.id for object in plan.objects}
        assert objects.isdisjoint(own)
        objects |= own
        claimed = {app.release for app in plan.apps if app.release}
        placed = {(placement.cluster, placement.namespace) for placement in plan.placements}
        assert elsewhere.isdisjoint(claimed | placed)
        elsewhere |= claimed | placed
        promises.subjects_are_explained_where_the_plan_puts_them(loaded, plan)
    for cluster, declared in loaded.clusters.items():
        prepared = [bootstrap(loaded, environment, cluster) for environment in declared.environments]
        assert all(prepared[0] == each for each in prepared)
        users = {subject["name"] for each in prepared[0] for subject in each.get("subjects", ())}
        for plan in planned.values():
            for object in plan.objects:
                labels = object.manifest["metadata"]["labels"]
                spec = object.manifest.get("spec", {})
                if labels.get("tenantry/cluster") == cluster and "chartRef" in spec and "kubeConfig" in spec:
                    by_platform = object.id.name.endswith("-baseline") or not object.owner.tenant
                    user = f"system:serviceaccount:{object.id.namespace}:{spec['serviceAccountName']}"
                    assert (user in users) == by_platform


@one_in(3)
@given(shared_hubs())
def test_an_environment_that_is_not_named_in_its_namespaces_keeps_all_names_whoever_joins_its_hub(fleet: Data) -> None:
    fleet["environments"]["dev"]["namespace"] = "{tenant}"
    for cluster in fleet["clusters"].values():
        cluster["environments"].sort()  # or the add-ons might be another's
    alone = {**fleet, "environments": {"dev": fleet["environments"]["dev"]}}
    alone["clusters"] = {
        name: {**cluster, "environments": ["dev"]}
        for name, cluster in fleet["clusters"].items()
        if "dev" in cluster["environments"]
    }
    try:
        before = plans(alone)["dev"]
    except InvalidFleet:  # selectors and overrides that name the clusters of others
        reject()
    assert by_id(before) == by_id(plans(fleet)["dev"])


def _ids(objects: Iterable[KubeObject]) -> set[ObjectId]:
    """Without the order, which is that of the plan they come from."""
    return {each.id for each in objects}
