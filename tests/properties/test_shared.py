"""Sources that clusters share: each app takes what its own cluster says, and no two authors or environments have one in common."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.settings import variables_of
from tenantry.flux.references import renamed
from tenantry.kube.objects import Manifest, ObjectId, labels_of
from tenantry.load import plan_all
from tenantry.messages.data import mapping_at
from tenantry.messages.placeholders import fill
from tenantry.model import Selector, Source
from tenantry.model.durations import seconds_of
from tenantry.model.strict import FILLED
from tenantry.plan.engine_order import Chains
from tenantry.plan.objects.scope import SOURCE_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tests.drawn import given, one_in
from tests.properties.promises import load
from tests.strategies import Data, fleets, shared_hubs

PACE = ("interval", "timeout")


@given(st.one_of(fleets(), shared_hubs()))
def test_an_app_takes_what_the_file_says_for_its_cluster_and_shares_it_with_nobody_else(fleet: Data) -> None:
    loaded = load(fleet)
    authors: dict[tuple[str, ObjectId], tuple[str, str]] = {}
    for plan in plan_all(loaded).values():
        chains, objects = Chains(plan), {each.id: each for each in plan.objects}
        for app in plan.apps:
            *taken, _ = chains.of(app.id)
            as_the_file_says(loaded, plan, app, taken[0])
            for manifest in taken:
                assert labels_of(manifest).get("toolkit.fluxcd.io/tenant", "") == app.tenant
        for planned in objects.values():
            if not planned.owner.cluster and labels_of(planned.manifest).get(SOURCE_LABEL):
                author = (planned.owner.tenant, plan.environment)
                assert authors.setdefault((plan.management, planned.id), author) == author
                assert plan.wave_of(planned.id) is None


def as_the_file_says(fleet: Fleet, plan: Plan, app: PlannedApp, source: Manifest) -> None:
    """The source of an app has the spec that its author wrote, filled in for the app's cluster, and is fetched often enough."""
    if app.tenant:
        at: tuple[str, ...] = ("tenants", app.tenant, "sources", source_key(source))
        variables = variables_of(fleet, plan.environment, app.cluster, tenant=app.tenant)
    else:
        at = (*app.at, "source")
        variables = variables_of(fleet, plan.environment, app.cluster)
    written = fill(with_overrides(fleet, plan.environment, app.cluster, at), variables, at)
    declared = Source.model_validate(written, context=FILLED)
    wanted = declared.block.model_dump(exclude_none=True)
    spec = dict(renamed(source["kind"], source["spec"], lambda _, name: name.rpartition(".")[2]))
    if declared.credentials:
        wanted["secretRef"] = {"name": declared.credentials}
    if "layerSelector" not in wanted:
        spec.pop("layerSelector", None)
    spec.pop("include", None)
    wanted.pop("include", None)
    assert {key: each for key, each in spec.items() if key not in PACE} == {
        key: each for key, each in wanted.items() if key not in PACE
    }
    if "interval" in wanted:
        assert seconds_of(spec["interval"]) <= seconds_of(wanted["interval"])


def with_overrides(fleet: Fleet, environment: str, cluster: str, at: tuple[str, ...]) -> Data:
    """A source as it is written, with what the overrides that hold say of it, one after the other."""
    owner = at[:2] if at[0] == "tenants" else at[:1]
    said = [(each, at[len(owner) :]) for each in fleet.raw(*owner).get("overrides", ())]
    if at[:2] == ("platform", "addons"):
        said += [(each, at[3:]) for each in fleet.raw(*at[:3]).get("overrides", ())]
    data = copy.deepcopy(fleet.raw(*at))
    for override, below in said:
        when, patch = override["when"], mapping_at(override, *below)
        selector = Selector.model_validate(when.get("clusters", {"all": True}))
        is_there = not set(when.get("environments", [environment])).isdisjoint(fleet.lineage(environment))
        if is_there and selector.takes(cluster, fleet.clusters[cluster].labels):
            for kind in data.keys() & patch.keys():
                if "ref" in mapping_at(patch, kind):
                    data[kind].pop("ref")  # it is replaced as a whole
            data = merge([Layer((), data), Layer((), patch)])
    return data


def source_key(source: Manifest) -> str:
    """The key of a tenant's source, by its object's name or by its label."""
    return str(labels_of(source).get(SOURCE_LABEL) or source["metadata"]["name"])


@one_in(3)
@given(fleets())
def test_names_follow_from_the_content_and_not_from_the_pace(fleet: Data) -> None:
    before = names(fleet)
    assert names(with_sources(fleet, interval="77m")) == before
    others = names(with_sources(fleet, suspend=True))
    sources = {each for each in before if each[1] != "HelmChart"}
    assert not sources & others


def names(fleet: Data) -> set[tuple[str, str, str]]:
    """The names of what clusters share for tenants, by environment and kind."""
    return {
        (plan.environment, each.id.kind, each.id.name)
        for plan in plan_all(load(fleet)).values()
        for each in plan.objects
        if each.owner.tenant and not each.owner.cluster and SOURCE_LABEL in labels_of(each.manifest)
    }


def with_sources(fleet: Data, **more: Any) -> Data:
    """The fleet with more keys in each source of its tenants that takes them."""

    def source(declared: Data) -> Data:
        kinds = ("git", "oci", "helm", "bucket")
        return {key: {**each, **more} if key in kinds else each for key, each in declared.items()}

    tenants = {
        name: {**tenant, "sources": {key: source(each) for key, each in tenant.get("sources", {}).items()}}
        for name, tenant in fleet["tenants"].items()
    }
    return {**fleet, "tenants": tenants}
