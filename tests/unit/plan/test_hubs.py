"""An environment on several management clusters: what each of them has, and what is there once."""

from __future__ import annotations

import pytest

from tenantry.fleet.fleet import hub_of
from tenantry.messages.errors import Refused
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.plan import Plan
from tests.table import table
from tests.unit.texts import fleet, planned, problems

FRAME = """\
apiVersion: tenantry/v1
environments:
  prod: {management: MANAGEMENT, rollout: {waves: [WAVES{all: true}]}}
clusterGroups:
  edge: {environments: [prod], kubeconfig: {capi: {cluster: "{cluster}", namespace: clusters}}}
clusters:
CLUSTERS
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  alerts: {chat: {provider: {type: slack, channel: fleet, address: "https://chat.example.com"}}}
  addons:
    dns: {clusters: {all: true}, source: {git: {url: "https://git.example.com/dns", ref: {branch: main}}}, kustomize: {path: ./dns}}
tenants:
  rocky:
    clusters: {all: true}
    sources: {manifests: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}, credentials: git}}
    credentials: {git: {keys: [username, password]}, hook: {keys: [token]}}
    alerts: {chat: {provider: {type: slack, channel: rocky, address: "https://chat.example.com"}}}
    receivers: {push: {type: github, events: [push], credentials: hook}}
    apps:
      db: {kustomize: {source: manifests, path: ./db}}
      web: {kustomize: {source: manifests, path: "./web/{management}/{cluster}"}, dependsOn: [db, platform/dns]}
"""
EU = """\
  hub-eu: {environments: [prod]}
  edge-1: {group: edge, management: hub-eu, labels: {ring: early}}
  edge-2: {group: edge, management: hub-eu}
"""
US = """\
  hub-us: {environments: [prod]}
  edge-3: {group: edge, management: hub-us}
"""
HUBS = ("hub-eu", "hub-us")


def text(management: str, clusters: str) -> str:
    waves = "{labels: {ring: early}}, " if "early" in clusters else ""
    return FRAME.replace("MANAGEMENT", management).replace("CLUSTERS\n", clusters).replace("WAVES", waves)


BOTH = text("[hub-eu, hub-us]", EU + US)


@pytest.fixture(scope="module")
def prod() -> Plan:
    return planned(BOTH, "prod")


def test_each_cluster_is_of_the_hub_that_it_names_and_a_hub_is_its_own(prod: Plan) -> None:
    wanted = {"hub-eu": "hub-eu", "hub-us": "hub-us", "edge-1": "hub-eu", "edge-2": "hub-eu", "edge-3": "hub-us"}
    assert (prod.hubs, prod.hub_by_cluster) == (HUBS, wanted)
    assert wanted == {name: hub_of(fleet(BOTH), "prod", name) for name in wanted}
    assert all(wanted[each.owner.cluster] == each.hub for each in prod.objects if each.owner.cluster)
    assert all(wanted[each.cluster] == each.id.hub for each in prod.apps)


@table(("hub", "clusters"), [("hub-eu", EU), ("hub-us", US)])
def test_each_hub_has_what_it_has_in_an_environment_of_its_own(hub: str, clusters: str) -> None:
    here, alone = planned(BOTH, "prod").on(hub), planned(text(hub, clusters), "prod")
    assert (here.objects, here.placements, here.apps) == (alone.objects, alone.placements, alone.apps)
    assert (here.origins, here.written) == (alone.origins, alone.written)
    assert (here.hubs, here.hub_by_cluster) == (alone.hubs, alone.hub_by_cluster)
    assert here.management == hub


def test_the_names_in_the_state_are_unique_and_contain_the_hub(prod: Plan) -> None:
    names = [(each.id.api_version, each.id.kind, each.logical_name) for each in prod.objects]
    assert len({*names}) == len(names)
    assert all(each.logical_name == f"{each.hub}/{each.id.full_name}" for each in prod.objects)
    assert {each.logical_name for each in prod.on("hub-us").objects} == {
        each.logical_name.removeprefix("hub-us/") for each in prod.objects if each.hub == "hub-us"
    }


def test_an_environment_that_lists_one_hub_is_as_if_it_named_it() -> None:
    assert planned(text("[hub-us]", US), "prod") == planned(text("hub-us", US), "prod")


def test_nothing_depends_on_an_object_of_another_hub(prod: Plan) -> None:
    ids = {each.id for each in prod.objects}
    for each in prod.objects:
        assert {*each.depends_on} <= ids
        assert {other.hub for other in each.depends_on} <= {each.hub}
    assert {id.hub for app in prod.apps for id in app.after.values()} == {*HUBS}
    assert all(id.hub == app.id.hub for app in prod.apps for id in app.after.values())


def test_waves_span_the_hubs(prod: Plan) -> None:
    (rollout,) = prod.rollouts
    assert [wave.units for wave in rollout.waves] == [("edge-1",), ("edge-2", "edge-3", "hub-eu", "hub-us")]
    waves = {each.id: member[1].number for each in prod.objects if (member := prod.wave_of(each.id))}
    assert {waves[app.id] for app in prod.apps if app.cluster == "edge-1"} == {1}
    assert {waves[app.id] for app in prod.apps if app.cluster != "edge-1"} == {2}
    # The shared account of the namespace of kubeconfigs goes with the first wave of its own hub.
    accounts = [each.id for each in prod.objects if each.id[1:4] == ("ServiceAccount", "clusters", "rocky")]
    assert {id.hub: waves[id] for id in accounts} == {"hub-eu": 1, "hub-us": 2}


def test_the_placeholder_is_the_hub_of_the_cluster(prod: Plan) -> None:
    paths = {
        each.owner.cluster: each.manifest["spec"]["path"]
        for each in prod.objects
        if each.id.kind == "Kustomization" and each.id.name.endswith("web")
    }
    assert paths["edge-3"] == "./web/hub-us/edge-3"
    assert paths["edge-1"] == "./web/hub-eu/edge-1"
    assert paths["hub-us"] == "./web/hub-us/hub-us"


def test_an_object_says_where_it_is(prod: Plan) -> None:
    ids = [each.id for each in prod.objects if each.id.kind == "Namespace"]
    assert [*map(str, ids)] == ["Namespace rocky on hub-eu", "Namespace rocky on hub-us"]
    assert [prod.hub_of(id) for id in ids] == [*HUBS]
    assert [str(each.id) for each in prod.on("hub-us").objects if each.id.kind == "Namespace"] == ["Namespace rocky"]


def test_one_hub_is_not_taken_for_all(prod: Plan) -> None:
    with pytest.raises(Refused, match="has several management clusters: hub-eu, hub-us"):
        assert prod.management
    with pytest.raises(KeyError):
        prod.on("edge-1")


def test_each_hub_is_bootstrapped_as_one_and_each_remote_for_its_hub() -> None:
    loaded = fleet(BOTH)
    for hub, clusters in (("hub-eu", EU), ("hub-us", US)):
        alone = fleet(text(hub, clusters))
        for cluster in alone.clusters:
            assert bootstrap(loaded, "prod", cluster) == bootstrap(alone, "prod", cluster)


SHARED = """\
apiVersion: tenantry/v1
environments:
  prod: {management: [hub-eu, hub-us]}
  OTHER: {management: HUB, namespace: "TEMPLATE"}
clusters:
  hub-eu: {environments: [prod, test]}
  hub-us: {environments: [prod, test]}
tenants:
  rocky:
    clusters: {all: true}
    sources: {manifests: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: manifests}}}
"""


@table(
    ("hub", "told"),
    [
        ("hub-us", "share management cluster 'hub-us', and both give tenant 'rocky' namespace 'rocky'"),
        ("[hub-us, hub-eu]", "share management cluster 'hub-us', and both give tenant 'rocky' namespace 'rocky'"),
    ],
)
def test_environments_collide_on_the_hubs_that_they_share(hub: str, told: str) -> None:
    wanted = SHARED.replace("OTHER", "test").replace("HUB", hub)
    wanted = wanted.replace("hub-eu: {environments: [prod, test]}", "hub-eu: {environments: [prod]}")
    assert told in problems(wanted.replace("TEMPLATE", "{tenant}"))
    assert planned(wanted.replace("TEMPLATE", "{env}-{tenant}"), "test")
