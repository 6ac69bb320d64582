"""States that no run has written: a tenant in another stack's for a while, and one from before gates were resources.

Pulumi takes them, and no cluster sees a change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.guard.claims import Claim
from tenantry.stacks.file import project_name
from tenantry.stacks.states import States
from tenantry.stacks.targets import GATE
from tenantry.stacks.transfer import Document, Side, tenants_of, transferred, unclean
from tests.e2e.audit import changes_by_the_provider
from tests.e2e.clusters import Cluster
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

PLATFORM, SPARE = "tenantry-system", "spare"
WAVES = "rollout: {waves: [{names: [edge-1]}, {all: true}]}"


@pytest.fixture(scope="module")
def waves(fleet: Project, original: str) -> Iterator[Project]:
    """The project with waves, whose gates are in the state too, and a second stack, which is empty."""
    fleet.fleet.write_text(original.replace("    management: hub-dev\n", f"    management: hub-dev\n    {WAVES}\n"))
    fleet.deploy("dev")
    fleet.pulumi("stack", "init", SPARE, "--copy-config-from", "dev", "--no-select").ok()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in fleet.environment().items():
            if os.environ.get(name) != value:
                patch.setenv(name, value)
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


def test_over_a_state_whose_gates_are_components_a_run_changes_the_gates_alone(waves: Project, hub: Cluster) -> None:
    states = States(waves.root)
    state = states.read("dev")
    gates = [each["urn"] for each in state["deployment"]["resources"] if each["type"] == GATE]
    assert gates
    states.write("dev", _with_components_as_gates(state))
    there, begun = hub.fleet_uids(), len(changes_by_the_provider(waves, "hub-dev"))

    changes = waves.preview()
    assert {each.split()[0] for each in changes} == {"Stash", "Gate"}, changes
    assert sorted(changes.values()) == ["create"] * len(gates) + ["delete"] * len(gates)
    waves.up("dev").ok()
    after = states.read("dev")["deployment"]["resources"]
    assert sorted(each["urn"] for each in after if each["type"] == GATE) == sorted(gates)
    assert not any(each["type"] == _COMPONENT for each in after)
    assert (hub.fleet_uids(), changes_by_the_provider(waves, "hub-dev")[begun:]) == (there, [])
    assert waves.preview() == {}


_COMPONENT = "tenantry:rollout:Gate"


def _with_components_as_gates(state: Document) -> Document:
    """The state as it was when gates were components: they have another type, no value, and no provider."""
    former: Document = json.loads(json.dumps(state).replace(f"${GATE}::", f"${_COMPONENT}::"))
    resources = former["deployment"]["resources"]
    kept = {"urn", "type", "custom", "parent", "dependencies", "created", "modified"}
    former["deployment"]["resources"] = [
        {key: value for key, value in each.items() if key in kept} | {"type": _COMPONENT, "custom": False}
        if each["type"] == GATE
        else each
        for each in resources
        if each["type"] != "pulumi:providers:pulumi"
    ]
    return former
