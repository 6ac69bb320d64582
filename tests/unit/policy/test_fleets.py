"""What a fleet yields keeps all rules of the policy pack, whatever the fleet."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.resource import type_token
from policy.resource import Provider, Resource
from tenantry.load import load_fleet, plan_all
from tests.unit.policy.test_rules import violations

ROOT = Path(__file__).resolve().parents[3]
FLEETS = [
    ROOT / "tenants.yaml",
    *sorted(ROOT.glob("examples/*/tenants.yaml")),
    *sorted(ROOT.glob("tests/golden/*/tenants.yaml")),
]


@pytest.mark.parametrize("fleet", FLEETS, ids=lambda fleet: str(fleet.parent.relative_to(ROOT)))
def test_all_objects_of_a_fleet_keep_all_rules(fleet: Path) -> None:
    for environment, plan in plan_all(load_fleet(fleet)).items():
        management = Provider("management")
        given = [Resource(each.logical_name, type_token(each.id), each.manifest, management) for each in plan.objects]
        found = [f"{environment}: {rule}: {violation}" for rule, violation in violations(given)]
        assert given
        assert found == []
