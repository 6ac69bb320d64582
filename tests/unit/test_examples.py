"""Every example is a fleet that works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("example", sorted(each.name for each in EXAMPLES.iterdir() if each.is_dir()))
def test_an_example_is_sound_and_yields_objects_in_every_environment(example: str) -> None:
    plans = plan_all(load_fleet(EXAMPLES / example / "tenants.yaml"))
    assert {environment for environment, plan in plans.items() if not plan.objects} == set()
