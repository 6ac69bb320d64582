"""A tenant whose resources are in another stack's state for a while: Pulumi takes both states, and no cluster sees a change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.guard.claims import Claim
from tenantry.stacks.file import project_name
from tenantry.stacks.states import States
from tenantry.stacks.transfer import Side, tenants_of, transferred, unclean
from tests.e2e.audit import changes_by_the_provider
from tests.e2e.clusters import Cluster
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

PLATFORM, SPARE = "tenantry-system", "spare"
WAVES = "rollout: {waves: [{names: [edge-1]}, {all: true}]}"


@pytest.fixture
def waves(fleet: Project, original: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """The project with waves, whose gates are in the state too, and a second stack, which is empty."""
    fleet.fleet.write_text(original.replace("    management: hub-dev\n", f"    management: hub-dev\n    {WAVES}\n"))
    fleet.deploy("dev")
    fleet.pulumi("stack", "init", SPARE, "--copy-config-from", "dev", "--no-select").ok()
    for name, value in fleet.environment().items():
        if os.environ.get(name) != value:
            monkeypatch.setenv(name, value)
    yield fleet
    fleet.pulumi("stack", "rm", SPARE, "--yes", "--force").ok()
    fleet.fleet.write_text(original)
    fleet.deploy("dev")


def test_a_tenant_goes_to_another_stack_and_back_without_a_change(waves: Project, hub: Cluster, edge: Cluster) -> None:
    there, begun = (hub.fleet_uids(), edge.fleet_uids()), len(changes_by_the_provider(waves, "hub-dev"))
    states = States(waves.root)
    before = tenants_of(states.read("dev"))
    for source, dest in (("dev", SPARE), (SPARE, "dev")):
        _move(waves.root, states, source, dest)
        assert "rocky" in tenants_of(states.read(dest))
        assert "rocky" not in tenants_of(states.read(source))
    assert tenants_of(states.read("dev")) == before
    assert waves.preview() == {}
    assert (hub.fleet_uids(), edge.fleet_uids()) == there
    assert changes_by_the_provider(waves, "hub-dev")[begun:] == []


def _move(root: Path, states: States, source: str, dest: str) -> None:
    """Move tenant rocky, as a command would do it: the destination is written first."""
    sides = []
    for stack in (source, dest):
        states.check_unlocked(stack)
        state = states.read(stack)
        assert list(unclean(stack, state)) == []
        sides.append(Side(state, Claim("dev", f"{project_name(root)}/{stack}")))
    made = transferred(*sides, ["rocky"], PLATFORM)
    states.write(dest, made.dest)
    states.write(source, made.source)
