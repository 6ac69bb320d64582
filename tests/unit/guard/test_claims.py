"""Who runs which environment, as a management cluster remembers it."""

from __future__ import annotations

import pytest

from tenantry.cluster.inventory import claims_on
from tenantry.guard.claims import Claim, claim_object, claims, other_claims
from tenantry.messages.errors import Refused
from tests.unit.memory import Memory

DEV, QA = Claim("dev", "fleet/dev"), Claim("qa", "fleet/qa")
CONFIG_MAPS = "/api/v1/namespaces/platform/configmaps"


def refusal(mine: Claim, *there: Claim) -> str:
    return "\n".join(f"{each.message}\n  fix: {each.fix}" for each in other_claims(mine, there, "platform"))


def test_a_stack_takes_what_nobody_runs_and_keeps_what_it_runs() -> None:
    assert [refusal(DEV), refusal(DEV, QA), refusal(DEV, DEV, QA)] == ["", "", ""]


def test_a_stack_does_not_become_another_environment() -> None:
    assert refusal(Claim("qa", "fleet/dev"), DEV) == (
        "stack 'fleet/dev' runs environment 'dev', and would delete all of it for 'qa'\n"
        "  fix: pulumi config set tenantry:environment dev; run 'qa' from a stack of its own; to remove 'dev',"
        " run `tenantry destroy --environment dev` first"
    )


def test_an_environment_is_not_run_by_two_stacks() -> None:
    assert refusal(Claim("qa", "fleet/new"), QA) == (
        "environment 'qa' is run by stack 'fleet/qa', and this is stack 'fleet/new'\n"
        "  fix: pulumi stack select qa; if that stack was renamed or is gone: kubectl --namespace platform patch configmap"
        """ tenantry-qa --type merge --patch '{"data":{"stack":"fleet/new"}}'"""
    )


def test_a_claim_is_read_as_it_was_written() -> None:
    memory = Memory()
    emptied = {"metadata": {"name": "tenantry-old"}, "data": None}
    items = [dict(claim_object("platform", each).manifest) for each in (DEV, QA)]
    memory.objects[CONFIG_MAPS] = {"metadata": {}, "items": [emptied, *items]}
    with memory.client() as client:
        assert claims_on(client, "platform") == [DEV, QA]
    assert memory.requests[0][2]["labelSelector"] == "tenantry/claim"


def test_a_claim_goes_with_its_stack() -> None:
    claim = claim_object("platform", DEV)
    assert (claim.retained, claim.protect) == (False, False)


def test_a_cluster_that_does_not_let_claims_be_read_is_refused() -> None:
    memory = Memory()
    memory.refuse("GET", CONFIG_MAPS, 403, "no")
    with pytest.raises(Refused) as refused, memory.client() as client:
        claims_on(client, "platform")
    assert str(refused.value) == (
        "cannot read configmaps in platform: HTTP 403\n  fix: use credentials that may read configmaps in platform"
    )


def test_claims_of_nothing_are_none() -> None:
    assert list(claims([{}, {"data": {"environment": "dev"}}])) == []


def test_a_claim_names_the_environment_and_the_stack() -> None:
    manifest = claim_object("platform", Claim("prod", "fleet/prod")).manifest
    assert (manifest["metadata"]["name"], manifest["data"]) == (
        "tenantry-prod",
        {"environment": "prod", "stack": "fleet/prod"},
    )
