"""Tenants' resources, moved from one stack's state into another's."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tenantry.guard.claims import Claim
from tenantry.stacks.transfer import Document, Moved, Side, Transferred, resources_of, tenants_of, transferred, unclean
from tests.unit.stacks.states import SECRET, state

NEW: Document = {"version": 3, "deployment": {}}
PROD, BLUE, QA = Claim("prod", "shop/prod"), Claim("prod", "shop/blue"), Claim("qa", "shop/qa")
OF_PROD = state("prod", "rocky", "movy", "otto")
OF_QA = state("qa", "zoe", environment="qa")


def transfer(*tenants: str, source: Document = OF_PROD, dest: Document = NEW, claim: Claim = BLUE) -> Transferred:
    return transferred(Side(source, PROD), Side(dest, claim), tenants, "platform")


def check_integrity(claim: Claim, document: Document) -> None:
    """What Pulumi checks of a state: whatever a resource refers to comes before it."""
    name = claim.stack.rpartition("/")[2]
    known: set[str] = set()
    assert resources_of(document)[0]["urn"] == f"urn:pulumi:{name}::shop::pulumi:pulumi:Stack::shop-{name}"
    for resource in resources_of(document):
        assert resource["urn"].startswith(f"urn:pulumi:{name}::shop::")
        assert resource["urn"] not in known
        provider = resource.get("provider", "").rpartition("::")[0]
        named = [resource.get("parent"), provider, *resource.get("dependencies", [])]
        named += [urn for urns in (resource.get("propertyDependencies") or {}).values() for urn in urns or ()]
        assert {urn for urn in named if urn} <= known
        known.add(resource["urn"])


def of_type(document: Document, end: str) -> list[dict[str, Any]]:
    return [each for each in resources_of(document) if each["type"].endswith(end)]


@pytest.mark.parametrize(
    ("dest", "claim", "there"),
    [(NEW, BLUE, {}), (state("blue", "zoe"), BLUE, {"zoe": 4}), (OF_QA, QA, {"zoe": 4}), (NEW, QA, {})],
    ids=["a new stack", "another stack", "another environment", "a new stack of another environment"],
)
def test_tenants_go_with_all_they_had(dest: Document, claim: Claim, there: dict[str, int]) -> None:
    made = transfer("rocky", "otto", dest=dest, claim=claim)
    check_integrity(PROD, made.source)
    check_integrity(claim, made.dest)
    assert tenants_of(made.source) == {"movy": 4}
    assert tenants_of(made.dest) == {**there, "rocky": 4, "otto": 4}
    assert made.moved == (Moved("rocky", 4), Moved("otto", 4))
    fleets = [each["urn"].rpartition("::")[2] for each in of_type(made.dest, ":Fleet")]
    assert fleets == [claim.environment]
    apps = of_type(made.dest, ":App")
    assert [each["urn"].rpartition("::")[2] for each in apps][-2:] == ["rocky/x", "otto/x"]
    assert all(each["protect"] and each["dependencies"] for each in apps)


def test_a_stack_s_own_provider_is_used() -> None:
    providers = {each["provider"] for each in of_type(transfer("rocky", dest=OF_QA, claim=QA).dest, ":App")}
    assert providers == {"urn:pulumi:qa::shop::pulumi:providers:kubernetes::management::id-of-qa"}
    providers = {each["provider"] for each in of_type(transfer("rocky").dest, ":App")}
    assert providers == {"urn:pulumi:blue::shop::pulumi:providers:kubernetes::management::id-of-prod"}


def test_dependencies_on_shared_objects_end_where_there_are_none() -> None:
    made = transfer("rocky", "otto")
    assert (len(of_type(made.source, "HelmChart")), len(of_type(made.dest, "HelmChart"))) == (1, 0)
    assert [len(each["dependencies"]) for each in of_type(made.dest, ":App")] == [1, 1]
    assert [len(each["propertyDependencies"]["spec"]) for each in of_type(made.dest, ":App")] == [1, 1]
    shared = transfer("rocky", dest=OF_QA, claim=QA).dest
    assert [len(each["dependencies"]) for each in of_type(shared, ":App")] == [2, 2]


def test_what_stays_no_longer_depends_on_what_goes() -> None:
    source = deepcopy(OF_PROD)
    rocky, movy, _ = of_type(source, ":App")
    movy["dependencies"].append(rocky["urn"])
    (left, _) = of_type(transfer("rocky", source=source).source, ":App")
    assert rocky["urn"] not in left["dependencies"]


def test_the_claims_are_as_the_next_run_registers_them() -> None:
    made = transfer("rocky")
    found = [claim for each in (made.source, made.dest) for claim in of_type(each, "ConfigMap")]
    assert [each["inputs"]["data"] for each in found] == [
        {"environment": "prod", "stack": "shop/prod"},
        {"environment": "prod", "stack": "shop/blue"},
    ]
    assert [each["outputs"]["__inputs"] for each in found] == [each["inputs"] for each in found]
    assert {each["urn"].rpartition("::")[2] for each in found} == {"platform/tenantry-prod"}


def test_outputs_and_secrets_go_along() -> None:
    source = deepcopy(OF_PROD)
    resources_of(source)[0]["outputs"]["record"] = {"format": "1"}
    made = transfer("otto", source=source)
    assert resources_of(made.dest)[0]["outputs"] == {
        "environment": "prod",
        "objects": 3,
        "tenants": {"otto": {"objects": 2}},
    }
    assert resources_of(made.source)[0]["outputs"] == {
        "environment": "prod",
        "objects": 6,
        "tenants": {"movy": {"objects": 2}, "rocky": {"objects": 2}},
        "record": {"format": "1"},
    }
    assert [each["inputs"]["data"] for each in of_type(made.dest, "Secret")] == [SECRET]


def test_an_interrupted_transfer_is_completed() -> None:
    """The destination is written first, so a tenant may be in both states, and never in none."""
    done = transfer("rocky", "otto")
    again = transfer("rocky", "otto", dest=done.dest)
    assert (again.source, again.dest) == (done.source, done.dest)
    twice = transfer("rocky", "otto", source=done.source, dest=done.dest)
    assert (twice.source, twice.dest, twice.moved) == (done.source, done.dest, ())


def test_a_tenant_that_the_source_does_not_hold_is_left_out() -> None:
    assert transfer("nobody", "").moved == ()


def test_the_states_themselves_do_not_change() -> None:
    before = deepcopy((OF_PROD, OF_QA))
    transfer("rocky", dest=OF_QA, claim=QA)
    assert before == (OF_PROD, OF_QA)


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
