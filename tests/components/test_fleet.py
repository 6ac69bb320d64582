from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pulumi
import pytest

from components.fleet import Fleet
from components.objects import Object
from tenantry.load import load_fleet, plan_all
from tenantry.plan.plan import Plan
from tests.components.plans import (
    BASELINE,
    BINDING,
    CHART,
    CREDENTIAL,
    IDENTITY,
    NAMESPACE,
    PLAN,
    PLATFORM,
    REMOTE_APP,
    key,
    unchecked,
)
from tests.components.recording import PROVIDER, Key, Recording, record

OWN_FILE = Path(__file__).parents[2] / "tenants.yaml"
PLANS = [PLAN, *plan_all(load_fleet(OWN_FILE)).values()]


def registered(plan: Plan) -> Recording:
    return record(lambda: Fleet(plan.environment, run=unchecked(plan)))


@pytest.fixture(scope="module", params=PLANS, ids=["by-hand", "dev", "prod"])
def plan(request: pytest.FixtureRequest) -> Plan:
    assert isinstance(request.param, Plan)
    return request.param


@pytest.fixture(scope="module")
def recording(plan: Plan) -> Recording:
    return registered(plan)


def check_objects(plan: Plan, recording: Recording) -> None:
    """Every object of the plan once, nothing else, and each with its manifest, its edges and the one provider."""
    found = {each.key: each for each in recording.objects}
    assert len(found) == len(recording.objects)
    assert {key(planned.id): planned.manifest for planned in plan.objects} == {
        each.key: each.inputs for each in recording.objects
    }
    assert {each.provider for each in recording.objects} == {Key(PROVIDER, "management")}
    for planned in plan.objects:
        assert found[key(planned.id)].depends_on == {key(dependency) for dependency in planned.depends_on}


def test_every_object_is_registered_once_with_its_manifest_edges_and_the_one_provider(
    plan: Plan, recording: Recording
) -> None:
    check_objects(plan, recording)


def test_no_two_resources_of_a_type_share_a_name(recording: Recording) -> None:
    counts = Counter(each.key for each in recording.registered)
    assert {name: count for name, count in counts.items() if count > 1} == {}


def test_every_component_says_when_it_is_complete(recording: Recording) -> None:
    assert Counter(recording.completed) - Counter([Key("pulumi:pulumi:Stack", "tenantry-dev")]) == Counter(
        each.key for each in recording.components
    )


def test_objects_stand_under_what_they_belong_to() -> None:
    fleet, tenant = Key("tenantry:index:Fleet", "dev"), Key("tenantry:index:Tenant", "rocky")
    cluster = Key("tenantry:index:Cluster", "edge")
    on_edge, on_hub = (Key("tenantry:index:Placement", f"rocky/{name}") for name in ("edge", "hub"))
    assert {each.key: each.parent for each in registered(PLAN).registered} == {
        Key(PROVIDER, "management"): Key("pulumi:pulumi:Stack", "tenantry-dev"),
        fleet: Key("pulumi:pulumi:Stack", "tenantry-dev"),
        key(PLATFORM.id): fleet,
        cluster: fleet,
        key(CHART.id): cluster,
        tenant: fleet,
        key(IDENTITY.id): tenant,
        on_edge: tenant,
        key(BASELINE.id): on_edge,
        key(REMOTE_APP.id): on_edge,
        on_hub: tenant,
        key(NAMESPACE.id): on_hub,
        key(BINDING.id): on_hub,
        key(CREDENTIAL.id): on_hub,
    }


def test_type_tokens_are_those_of_the_kubernetes_package() -> None:
    assert {each.key.type for each in registered(PLAN).objects} == {
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:Secret",
        "kubernetes:core/v1:ServiceAccount",
        "kubernetes:helm.toolkit.fluxcd.io/v2:HelmRelease",
        "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
        "kubernetes:source.toolkit.fluxcd.io/v1:HelmChart",
    }


def test_a_component_is_never_what_something_depends_on(recording: Recording) -> None:
    edges = {dependency for each in recording.registered for dependency in each.depends_on}
    assert edges & {each.key for each in recording.components} == set()


def test_an_object_is_registered_after_what_it_depends_on_whatever_the_order_of_the_plan() -> None:
    check_objects(plan := Plan("dev", "hub", (BINDING, NAMESPACE), (), ()), registered(plan))


def test_pulumi_waits_for_no_object_and_for_a_deletion_as_long_as_for_a_wave() -> None:
    found = {each.patience for each in registered(replace(PLAN, timeout=90)).objects}
    assert found == {("", "", "90s")}


def test_the_checks_can_fail() -> None:
    def without_an_object() -> None:
        less = Plan("dev", "hub", PLAN.objects[:-1], (), ())
        Fleet("dev", run=unchecked(less))

    def with_an_object_elsewhere() -> None:
        without_an_object()
        Object(CREDENTIAL.id, CREDENTIAL.manifest, pulumi.ResourceOptions())

    for broken in (without_an_object, with_an_object_elsewhere):
        with pytest.raises(AssertionError):
            check_objects(PLAN, record(broken))
