"""`tenantry approve` and `tenantry status --rollout` against an API server in memory."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster.waves import approvals_on, known_on
from tenantry.plan.bootstrap import bootstrap
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory, hold
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import fleet as fleet_of
from tests.unit.texts import planned

WAVES = "{waves: [{name: canary, labels: {ring: canary}, soak: 2h}, {all: true, approval: {groups: [release, ops]}}]}"
APPS = "      web: {kustomize: {source: m, path: ./PATH}}\n"
BEFORE, AFTER = (fleet(WAVES, APPS.replace("PATH", path), clusters=2) for path in ("a", "b"))
CONFIG_MAPS = "/api/v1/namespaces/tenantry-system/configmaps"
APPROVALS = f"{CONFIG_MAPS}/tenantry-dev.approvals"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SUBJECT = "rocky/web"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """It holds what the file said before, and sees alice of ops."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(AFTER)
    memory = Memory()
    hold(memory, planned(BEFORE))
    memory.objects[CONFIG_MAPS] = {"metadata": {}, "items": []}
    memory.objects[APPROVALS] = {"metadata": {"name": "tenantry-dev.approvals"}}
    _as(memory, "alice", "ops")
    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
    return memory


def _as(memory: Memory, name: str, *groups: str) -> None:
    memory.objects[REVIEWS] = {"status": {"userInfo": {"username": name, "groups": list(groups)}}}


def entries(memory: Memory) -> list[list[str]]:
    return [each.split("\n") for each in memory.objects[APPROVALS].get("data", {}).values()]


def test_what_would_change_is_approved_in_the_name_of_the_user(capsys: Capture, hub: Memory) -> None:
    code, out, _ = tenantry(capsys, "approve", "dev", "2", "--dry-run")
    assert (code, out, entries(hub)) == (0, f"would approve wave 2 of 2 of environment 'dev': {SUBJECT}\n", [])
    code, out, _ = tenantry(capsys, "approve", "dev", "wave 2")
    assert (code, out) == (0, f"approved wave 2 of 2 of environment 'dev': {SUBJECT}, as alice of ops\n")
    ((by, group, _, commit, wave, rollout, subjects),) = entries(hub)
    assert (by, group, commit, wave, rollout, subjects[:10]) == ("alice", "ops", "", "2", "", "rocky/web=")
    (approved,) = approvals_on(hub.client(), "tenantry-system", "dev") or []
    assert (approved.part.subject, approved.by, approved.group) == (SUBJECT, "alice", "ops")
    code, out, _ = tenantry(capsys, "approve", "dev", "2")
    assert (code, out) == (0, "nothing in wave 2 of 2 of environment 'dev' waits for an approval\n")
    Path("tenants.yaml").write_text(AFTER.replace("./b", "./c"))
    assert "approved" in tenantry(capsys, "approve", "dev", "2")[1]
    assert len(entries(hub)) == 2


@pytest.mark.parametrize(
    ("groups", "arguments", "told"),
    [
        (["dev"], ["2"], "wave 2 of 2 is approved by release, ops, and you are 'alice' of dev\n  fix: use credentials"),
        ([], ["2"], "and you are 'alice' of no group"),
        (["ops"], ["1"], "wave 1 of 2 (canary) needs no approval\n  fix: name one that does: 2"),
        (["ops"], ["late"], "there is no wave 'late'; declared: canary, wave 2"),
        (
            ["ops"],
            ["2", "--rollout", "rocky/web"],
            "environment 'dev' has no rollout 'rocky/web'\n  fix: name one of: none",
        ),
    ],
)
def test_what_cannot_be_approved_says_why(
    capsys: Capture, hub: Memory, groups: list[str], arguments: list[str], told: str
) -> None:
    _as(hub, "alice", *groups)
    code, _, err = tenantry(capsys, "approve", "dev", *arguments)
    assert (code, told in err, entries(hub)) == (2, True, []), err


def test_without_a_place_for_approvals_nobody_approves(capsys: Capture, hub: Memory) -> None:
    del hub.objects[APPROVALS]
    hub.refuse("PATCH", APPROVALS, 404, "not found")
    code, _, err = tenantry(capsys, "approve", "dev", "2")
    assert (code, "tenantry-dev.approvals does not exist\n  fix: prepare the management cluster" in err) == (2, True)
    assert approvals_on(hub.client(), "tenantry-system", "dev") is None


@pytest.mark.usefixtures("hub")
def test_status_says_what_would_change_in_which_wave_and_what_waits(capsys: Capture) -> None:
    code, out, _ = tenantry(capsys, "status", "dev", "--rollout")
    assert (code, out.splitlines()) == (
        1,
        [
            "dev: wave 1 of 2 (canary), 1 cluster: would change: rocky/web",
            "dev: wave 2 of 2, 2 clusters: would change: rocky/web",
            "dev: of this waits",
            "  wave 2 of 2: rocky/web: wave 1 of 2 (canary) has not been good with it yet, and then soaks for 2h",
        ],
    )
    code, out, _ = tenantry(capsys, "status", "dev", "--rollout", "--output", "json")
    document = json.loads(out)
    (environment,) = document["environments"]
    changing: list[list[dict[str, Any]]] = [each["changing"] for each in environment["waves"]]
    assert (code, document["kind"], [each["subject"] for found in changing for each in found]) == (
        1,
        "Status",
        [SUBJECT, SUBJECT],
    )
    assert [bool(each["reason"]) for found in changing for each in found] == [False, True]
    Path("tenants.yaml").write_text(BEFORE)
    assert tenantry(capsys, "status", "dev", "--rollout")[:2] == (0, "dev: nothing would change\n")
    assert tenantry(capsys, "status", "dev", "--rollout", "--all")[0] == 2


def test_bootstrap_makes_the_place_for_approvals_and_its_policy_where_a_wave_needs_one() -> None:
    made = {(each["kind"], each["metadata"]["name"]): each for each in bootstrap(fleet_of(AFTER), "dev", "hub")}
    assert ("ConfigMap", "tenantry-dev.approvals") in made
    (rule,) = made["Role", "tenantry-dev.approvals"]["rules"]
    assert (rule["resourceNames"], rule["verbs"]) == (["tenantry-dev.approvals"], ["get", "patch"])
    subjects = made["RoleBinding", "tenantry-dev.approvals"]["subjects"]
    assert [(each["kind"], each["name"]) for each in subjects] == [("Group", "ops"), ("Group", "release")]
    assert ("ValidatingAdmissionPolicyBinding", "tenantry-approvals") in made
    others = bootstrap(fleet_of(AFTER.replace(", approval: {groups: [release, ops]}", "")), "dev", "hub")
    assert "approvals" not in str(others)
    assert "approvals" not in str(bootstrap(fleet_of(AFTER), "dev", "edge-1"))


def test_nothing_counts_as_approved_where_nobody_knows_who_runs_the_change(hub: Memory) -> None:
    now, plan = datetime(2026, 11, 28, 12, tzinfo=UTC), planned(AFTER)
    known = known_on(hub.client(), plan, "tenantry-system", now, runs=True)
    assert (known.runner, known.approvals) == ("alice", [])
    del hub.objects[REVIEWS]
    assert known_on(hub.client(), plan, "tenantry-system", now, runs=True).approvals is None
