"""States of stacks, divided between another number of shards."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from tenantry.guard.claims import Claim
from tenantry.plan.shards import Shard, shard_of
from tenantry.stacks.division import Move, divided, resources_of, tenants_of, unclean
from tenantry.stacks.targets import GATE
from tests.unit.stacks.states import OF_GATES, SECRET, TENANTS, shards_of, state

NEW: dict[str, Any] = {"version": 3, "deployment": {}}


def claims(count: int) -> list[Claim]:
    names = ["prod", *(f"prod-{index}" for index in range(2, count + 1))]
    return [Claim("prod", f"shop/{name}", Shard(index, count)) for index, name in enumerate(names, 1)]


def divide(states: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    names = [each.stack.rpartition("/")[2] for each in claims(count)]
    return divided({**dict.fromkeys(names, NEW), **states}, claims(count), "platform").states


def check_integrity(name: str, document: Mapping[str, Any]) -> None:
    """What Pulumi checks of a state: whatever a resource refers to comes before it."""
    known: set[str] = set()
    assert resources_of(dict(document))[0]["urn"] == f"urn:pulumi:{name}::shop::pulumi:pulumi:Stack::shop-{name}"
    for each in resources_of(dict(document)):
        assert each["urn"].startswith(f"urn:pulumi:{name}::")
        assert each["urn"] not in known
        provider = each.get("provider", "").rpartition("::")[0]
        named = [each.get("parent"), provider, *each.get("dependencies", [])]
        named += [urn for urns in (each.get("propertyDependencies") or {}).values() for urn in urns or ()]
        assert {urn for urn in named if urn} <= known
        known.add(each["urn"])


@pytest.mark.parametrize(("before", "after"), [(1, 2), (1, 4), (2, 3), (2, 4), (4, 2), (3, 1), (1, 1)])
def test_each_tenant_is_in_the_state_of_its_shard_with_all_it_had(before: int, after: int) -> None:
    made = divide(shards_of(before), after)
    for index, claim in enumerate(claims(after), 1):
        name = claim.stack.rpartition("/")[2]
        check_integrity(name, made[name])
        assert tenants_of(made[name]) == {each: 4 for each in TENANTS if shard_of(each, after) == index}
    apps = [each for one in made.values() for each in resources_of(one) if each["type"].endswith(":App")]
    assert len(apps) == len(TENANTS)
    assert all(each["protect"] and len(each["dependencies"]) >= 1 for each in apps)
    gates = [each for one in made.values() for each in resources_of(one) if each["type"] == GATE]
    assert len(gates) == len(TENANTS)
    assert {each["provider"].split("::")[2] for each in gates} == {OF_GATES}
    assert all(resources_of(made[name]) == [] for name in {*shards_of(before)} - {*shards_of(after)})


def test_shared_objects_and_their_dependents_stay_in_the_first_shard() -> None:
    made = divide(shards_of(1), 2)
    charts = {name: [each for each in resources_of(one) if "HelmChart" in each["type"]] for name, one in made.items()}
    assert {name: len(each) for name, each in charts.items()} == {"prod": 1, "prod-2": 0}
    apps = {each["urn"].rpartition("::")[2]: each for one in made.values() for each in resources_of(one)}
    assert [len(apps[f"{name}/x"]["dependencies"]) for name in ("rocky", "otto")] == [2, 1]


def test_the_claims_are_as_the_next_run_registers_them() -> None:
    made = divide(shards_of(1), 2)
    found = [each for one in made.values() for each in resources_of(one) if each["type"].endswith("ConfigMap")]
    assert [each["inputs"]["data"] for each in found] == [
        {"environment": "prod", "stack": "shop/prod", "shard": "1/2"},
        {"environment": "prod", "stack": "shop/prod-2", "shard": "2/2"},
    ]
    assert [each["urn"].rpartition("::")[2] for each in found] == ["platform/tenantry-prod", "platform/tenantry-prod.2"]
    whole = divide(made, 1)
    (claim,) = (each for each in resources_of(whole["prod"]) if each["type"].endswith("ConfigMap"))
    assert claim["inputs"]["data"] == {"environment": "prod", "stack": "shop/prod"}


def test_outputs_and_secrets_go_along() -> None:
    second = divide(shards_of(1), 2)["prod-2"]
    root, *_ = resources_of(second)
    assert root["outputs"] == {
        "environment": "prod",
        "objects": 5,
        "tenants": {"otto": {"objects": 2}, "zoe": {"objects": 2}},
    }
    secrets = [each["inputs"]["data"] for each in resources_of(second) if each["type"].endswith("Secret")]
    assert secrets == [SECRET, SECRET]


def test_a_move_says_who_goes_where() -> None:
    found = divided({**shards_of(1), "prod-2": NEW}, claims(2), "platform").moves
    assert found == (Move("otto", "prod", "prod-2", 4), Move("zoe", "prod", "prod-2", 4))


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 4), (3, 1)])
def test_an_interrupted_move_is_completed(before: int, after: int) -> None:
    """Some states are written and others are not: those that gain come first, and a tenant may be in two states."""
    start = {**{f"prod-{index}": NEW for index in range(2, after + 1)}, **shards_of(before)}
    done = divide(start, after)
    order = list(done)
    for written in range(len(order) + 1):
        half = {name: done[name] if index < written else start[name] for index, name in enumerate(order)}
        gains = {name for name in order if {*tenants_of(done[name])} - {*tenants_of(start[name])}}
        if gains <= {*order[:written]}:
            assert _tenants(divide(half, after)) == _tenants(done)


def _tenants(states: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {name: tenants_of(one) for name, one in states.items()}


def test_the_states_themselves_do_not_change() -> None:
    before = shards_of(2)
    copy = deepcopy(before)
    divide(before, 3)
    assert before == copy


def test_a_state_whose_last_run_did_not_finish_is_told() -> None:
    document = state("prod", "rocky")
    assert list(unclean("prod", document)) == []
    document["deployment"]["pending_operations"] = [{"type": "creating"}]
    resources_of(document)[-1]["delete"] = True
    (problem,) = unclean("prod", document)
    assert problem.message == (
        "the last run of stack 'prod' was interrupted: its state has 1 pending operations and 1 objects that are still to be"
        " deleted"
    )
