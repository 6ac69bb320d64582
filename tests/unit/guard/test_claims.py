"""Who runs which environment, as a management cluster remembers it."""

from __future__ import annotations

import pytest

from tenantry.cluster.inventory import claims_on
from tenantry.guard.claims import Claim, claim_object, claims, other_claims
from tenantry.messages.errors import Refused
from tenantry.plan.shards import Shard
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
    odd = {"environment": "dev", "stack": "fleet/dev", "shard": "9/8", "moving": "9" * 5000}
    assert list(claims([{"data": odd}])) == [DEV]


FIRST, SECOND = Claim("prod", "fleet/prod", Shard(1, 2)), Claim("prod", "fleet/prod-2", Shard(2, 2))
PROD = Claim("prod", "fleet/prod")


def test_a_claim_of_a_whole_environment_says_nothing_of_shards() -> None:
    manifest = claim_object("platform", PROD).manifest
    assert (manifest["metadata"]["name"], manifest["data"]) == (
        "tenantry-prod",
        {"environment": "prod", "stack": "fleet/prod"},
    )


def test_the_first_shard_keeps_the_claim_of_the_whole_environment() -> None:
    made = [claim_object("platform", each).manifest for each in (FIRST, SECOND)]
    assert [each["metadata"]["name"] for each in made] == ["tenantry-prod", "tenantry-prod.2"]
    assert made[1]["data"] == {"environment": "prod", "stack": "fleet/prod-2", "shard": "2/2"}
    moving = Claim("prod", "fleet/prod", moving=2)
    assert list(claims([*made, claim_object("platform", moving).manifest])) == [FIRST, SECOND, moving]


def test_stacks_of_the_shards_of_an_environment_run_side_by_side() -> None:
    assert [refusal(FIRST), refusal(FIRST, SECOND), refusal(SECOND, FIRST), refusal(SECOND, FIRST, SECOND)] == [""] * 4


@pytest.mark.parametrize(
    ("mine", "there", "message"),
    [
        (
            Claim("prod", "fleet/new", Shard(2, 2)),
            SECOND,
            "shard 2/2 of 'prod' is run by stack 'fleet/prod-2', and this is stack 'fleet/new'\n"
            "  fix: pulumi stack select prod-2; if that stack was renamed or is gone: kubectl --namespace platform patch"
            """ configmap tenantry-prod.2 --type merge --patch '{"data":{"stack":"fleet/new"}}'""",
        ),
        (
            FIRST,
            PROD,
            "stack 'fleet/prod' runs all of 'prod' and is set to run shard 1/2: it would delete tenants that"
            " other stacks should run\n"
            "  fix: pulumi config rm tenantry:shard; then move the tenants from state to state: tenantry shards move"
            " --environment prod --to 2",
        ),
        (
            PROD,
            FIRST,
            "stack 'fleet/prod' runs shard 1/2 of 'prod' and is set to run all: it would delete tenants that"
            " other stacks should run\n"
            "  fix: pulumi config set tenantry:shard 1/2; then move the tenants from state to state: tenantry shards move"
            " --environment prod --to 1",
        ),
        (
            SECOND,
            PROD,
            "stack 'fleet/prod' runs all of 'prod', and stack 'fleet/prod-2' is set to run shard 2/2: both"
            " would have some of the same tenants\n"
            "  fix: tenantry shards move --environment prod --to 2",
        ),
        (
            Claim("prod", "fleet/prod-3", Shard(3, 3)),
            FIRST,
            "stack 'fleet/prod' runs shard 1/2 of 'prod', and stack 'fleet/prod-3' is set to run shard 3/3: both would have"
            " some of the same tenants\n"
            "  fix: tenantry shards move --environment prod --to 3",
        ),
        (
            SECOND,
            Claim("prod", "fleet/prod", moving=2),
            "environment 'prod' is being divided into 2 shards, and its stacks' states are not complete\n"
            "  fix: finish it: tenantry shards move --environment prod --to 2",
        ),
    ],
)
def test_a_stack_does_not_run_what_another_one_has(mine: Claim, there: Claim, message: str) -> None:
    assert refusal(mine, there) == message
