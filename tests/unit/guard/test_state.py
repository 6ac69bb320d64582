"""What a stack that lost its claim may not find in its state."""

from __future__ import annotations

import pytest

from tenantry.guard.claims import Claim
from tenantry.guard.state import foreign
from tenantry.plan.shards import Shard

FLEET = "urn:pulumi:dev-2::shop::tenantry:index:Fleet"
CLAIM = f"{FLEET}$kubernetes:core/v1:ConfigMap::platform/tenantry-dev.2"
RECORD = f"{FLEET}$kubernetes:core/v1:ConfigMap::platform/tenantry-dev.record.2"
ROCKY = f"{FLEET}$tenantry:index:Tenant::rocky"
OTTO = f"{FLEET}$tenantry:index:Tenant::otto"


def told(shard: Shard, *urns: str, environment: str = "dev") -> str:
    found = foreign(Claim(environment, "shop/dev-2", shard), urns)
    return "\n".join(f"{each.message}\n  fix: {each.fix}" for each in found)


@pytest.mark.parametrize("urns", [(), (f"{FLEET}::dev", CLAIM, RECORD, OTTO, "odd")])
def test_what_the_stack_runs_is_its_own(urns: tuple[str, ...]) -> None:
    assert told(Shard(2, 2), *urns) == ""


def test_tenants_of_other_shards_are_not() -> None:
    assert told(Shard(2, 2), f"{FLEET}::dev", CLAIM, OTTO, ROCKY) == (
        "the state of stack 'shop/dev-2' holds 1 tenant (rocky) of 'dev', which are not in shard 2/2: it would delete them\n"
        "  fix: set tenantry:shard to what it was (`pulumi config rm tenantry:shard` if the stack ran everything) and run"
        " `tenantry up --environment dev`; then move the tenants from state to state: tenantry shards move"
        " --environment dev --to 2"
    )


def test_shared_objects_belong_to_the_first_shard() -> None:
    shared = f"{FLEET}$tenantry:index:Cluster$kubernetes:core/v1:ServiceAccount::kamaji/tenantry-platform"
    assert told(Shard(1, 2), f"{FLEET}::dev", shared) == ""
    assert "holds shared objects of 'dev', which are not in shard 2/2" in told(Shard(2, 2), f"{FLEET}::dev", shared)


def test_another_environment_is_not() -> None:
    assert told(Shard(1, 1), f"{FLEET}::dev", ROCKY, environment="qa") == (
        "the state of stack 'shop/dev-2' holds environment 'dev', which it would delete for 'qa'\n"
        "  fix: pulumi config set tenantry:environment dev; run 'qa' from a stack of its own"
    )
