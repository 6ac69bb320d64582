"""A run that leaves namespaces reads Pulumi's state first, which says whether they stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import pytest

from components import state
from components.state import State, StillProtected, check_retained, check_unprotected
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused, RefusedChange
from tenantry.stacks.states import key_in_state
from tests.unit.guard.fleets import fleet, tenant
from tests.unit.texts import planned

MOVY = planned(fleet(tenant("movy", "web")))
LEFT = {"inputs": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky"}}}


def reading(monkeypatch: pytest.MonkeyPatch, *resources: dict[str, Any], problem: str = "") -> None:
    def exported(project: Path, stack: str) -> list[dict[str, Any]]:
        assert (project, stack) == (Path.cwd(), "org/fleet/dev")
        if problem:
            raise Refused(problem)
        return [*resources]

    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    monkeypatch.setattr(state, "stack_name", lambda: "org/fleet/dev")
    monkeypatch.setattr(state, "exported_resources", exported)


def test_what_the_state_keeps_may_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, {**LEFT, "retainOnDelete": True}, *({"inputs": each.manifest} for each in MOVY.objects))
    check_retained(State(), MOVY, ["rocky"])


def test_what_it_does_not_keep_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, LEFT)
    with pytest.raises(
        Refused, match="objects that Pulumi does not keep yet, and they would be deleted with their data\n"
    ):
        check_retained(State(), MOVY, ["rocky"])


def test_a_run_that_leaves_nothing_does_not_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, problem="unread")
    check_retained(State(), MOVY, [])


def test_a_state_that_cannot_be_read_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, problem="locked")
    with pytest.raises(Refused, match=r"^locked$"):
        check_retained(State(), MOVY, ["rocky"])


def test_what_was_never_applied_is_named_if_the_state_protects_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lost, kept = (ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "movy", name) for name in ("lost", "web"))
    urns = [f"urn:pulumi:dev::fleet::tenantry:index:Fleet${key_in_state(each)}" for each in (lost, kept)]
    reading(monkeypatch, *({"urn": urn, "protect": True} for urn in urns))
    with pytest.raises(StillProtected) as refused:
        check_unprotected(State(), {kept}, [lost])
    assert refused.value.urns == (urns[0],)
    assert refused.value.fix.endswith(f"without it: pulumi state unprotect --yes --stack dev '{urns[0]}'")
    reading(monkeypatch, {"urn": urns[0]}, {"urn": urns[1], "protect": True})
    check_unprotected(State(), {kept}, [lost])


def test_what_is_removed_before_its_mark_has_come_to_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    held = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "movy", "web")
    own, others = (f"urn:pulumi:dev::fleet::{above}{key_in_state(held)}" for above in ("tenantry:index:Fleet$", ""))
    reading(monkeypatch, {"urn": others, "protect": True})
    check_unprotected(State(), set(), [])
    reading(monkeypatch, {"urn": own, "protect": True})
    with pytest.raises(RefusedChange) as refused:
        check_unprotected(State(), set(), [])
    assert str(refused.value) == (
        f"this run would remove what Pulumi's state still protects, because no run has marked it\n    {own}"
        "\n  fix: put it back and run `tenantry up` until nothing of it is held, which marks it; then remove it"
    )
