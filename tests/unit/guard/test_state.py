"""What a stack that lost its claim may not find in its state."""

from __future__ import annotations

from tenantry.guard.claims import Claim, foreign
from tests.table import table

FLEET = "urn:pulumi:dev::shop::tenantry:index:Fleet"
CLAIM = f"{FLEET}$kubernetes:core/v1:ConfigMap::platform/tenantry-dev"
ROCKY = f"{FLEET}$tenantry:index:Tenant::rocky"


def told(environment: str, *urns: str) -> str:
    found = foreign(Claim(environment, "shop/dev"), urns)
    return "\n".join(f"{each.message}\n  fix: {each.fix}" for each in found)


@table("urns", [(), (f"{FLEET}::dev", CLAIM, ROCKY, "odd")])
def test_what_the_stack_runs_is_its_own(urns: tuple[str, ...]) -> None:
    assert told("dev", *urns) == ""


def test_another_environment_is_not() -> None:
    assert told("qa", f"{FLEET}::dev", ROCKY) == (
        "the state of stack 'shop/dev' holds environment 'dev', which it would delete for 'qa'\n"
        "  fix: pulumi config set tenantry:environment dev; run 'qa' from a stack of its own"
    )
