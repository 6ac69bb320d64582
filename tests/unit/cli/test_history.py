"""`tenantry history` against an API server in memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.cli.engine import session
from tenantry.cli.engine.advice import Ended
from tenantry.cli.engine.session import Session
from tenantry.cluster import connect as connecting
from tenantry.cluster.history import Counts, Entry, Result, digest_of, history_on, key_of, note
from tenantry.stacks.file import Stack, stack_target
from tenantry.stacks.outcome import HELD, WAITING
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}")
RUN = Entry(
    "2026-11-28T11:00:00Z",
    "fleet/dev",
    result=Result.SUCCEEDED,
    ended="2026-11-28T11:01:00Z",
    user="system:serviceaccount:ci:deployer",
    commit="1" * 40,
    actor="jo",
    pipeline="https://ci/1",
    plan=digest_of(planned(TEXT)),
    changes={"rocky": Counts(1, 2), "platform": Counts(0, 1, 3)},
)
EMERGENCY = replace(
    RUN,
    began="2026-11-28T12:00:00Z",
    edited=True,
    ignored=("after", "soak"),
    reason="CVE-1",
    changes={"movy": Counts(0, 1)},
)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memory = Memory()
    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
    return memory


def noted(memory: Memory, *runs: Entry) -> None:
    for number, run in enumerate(runs):
        note(memory.client(), "tenantry-system", "dev", key_of(run, str(number)), run)


def test_runs_are_told_newest_first_with_who_what_and_what_was_ignored(capsys: Capture, hub: Memory) -> None:
    noted(hub, RUN, EMERGENCY)
    code, out, err = tenantry(capsys, "history", "dev")
    heading, latest, first = (line.split() for line in out.splitlines())
    assert (code, err) == (0, "")
    assert heading[:7] == ["BEGAN", "RESULT", "CHANGES", "TENANTS", "COMMIT", "BY", "IGNORED"]
    assert latest[:8] == ["2026-11-28T12:00:00Z", "succeeded", "~1", "movy", "11111111+", "jo", "after,soak:", "CVE-1"]
    assert first[:8] == ["2026-11-28T11:00:00Z", "succeeded", "+1", "~3", "-3", "rocky,", "platform", "11111111"]


def test_of_a_tenant_its_own_changes_are_told(capsys: Capture, hub: Memory) -> None:
    noted(hub, RUN, EMERGENCY)
    code, out, _ = tenantry(capsys, "history", "dev", "--tenant", "rocky")
    assert (code, out.splitlines()[1].split()[:4]) == (0, ["2026-11-28T11:00:00Z", "succeeded", "+1", "~2"])
    code, _, err = tenantry(capsys, "history", "dev", "--tenant", "rockey")
    assert (code, "no run of 'dev' changed a tenant 'rockey'; declared: rocky (closest: rocky)" in err) == (2, True)


def test_only_the_newest_runs_are_shown_unless_all_are_asked_for(capsys: Capture, hub: Memory) -> None:
    noted(hub, RUN, EMERGENCY)
    _, out, err = tenantry(capsys, "history", "dev", "--limit", "1")
    assert (len(out.splitlines()), err) == (2, "1 older run: tenantry history --environment dev --limit 0\n")
    assert len(tenantry(capsys, "history", "dev", "--limit", "0")[1].splitlines()) == 3


def test_another_plan_than_that_of_the_last_run_is_told(capsys: Capture, hub: Memory) -> None:
    noted(hub, RUN, replace(RUN, began="2026-11-28T12:00:00Z", plan="0" * 16))
    hub.objects["/api/v1/namespaces/tenantry-system/configmaps/tenantry-dev.history"]["data"]["broken"] = "{"
    assert tenantry(capsys, "history", "dev")[2] == (
        "these entries cannot be read, and are left out: broken\n"
        "the last run had another plan than tenants.yaml has here\n"
        f"  fix: see what differs: tenantry diff {'1' * 40} -e dev\n"
    )


def test_the_document_has_all_of_it(capsys: Capture, hub: Memory) -> None:
    noted(hub, EMERGENCY)
    code, out, _ = tenantry(capsys, "history", "dev", "--output", "json")
    document = json.loads(out)
    assert (code, document["plan"], document["unreadable"]) == (0, RUN.plan, [])
    (run,) = document["runs"]
    assert run["changes"] == {"movy": {"created": 0, "changed": 1, "deleted": 0}}
    assert (run["ignored"], run["reason"], run["user"]) == (["after", "soak"], "CVE-1", RUN.user)


def test_without_any_run_that_is_said(capsys: Capture, hub: Memory) -> None:
    told = "no run of environment 'dev' is noted: a run notes itself if it changes something\n"
    assert hub.objects == {}
    assert tenantry(capsys, "history", "dev") == (0, "", told)


@pytest.mark.parametrize(
    ("code", "outcome", "result"),
    [(0, "", "succeeded"), (0, WAITING, "waiting"), (0, HELD, "partly"), (1, "", "failed"), (8, "", "interrupted")],
)
def test_the_command_notes_how_the_engine_has_ended(
    hub: Memory, monkeypatch: pytest.MonkeyPatch, code: int, outcome: str, result: str
) -> None:
    noted(hub, replace(RUN, result="applied"))
    stack = Stack("dev", "dev", stack_target(Path(), "dev"))
    entry = ("tenantry-system", key_of(RUN, "0"))
    ended = Ended("up", stack, code, outcome, entry=entry)
    monkeypatch.setattr(session, "_run_once", lambda *_, **__: ended)
    session.run(Session(Path(), "file://", adopts=True), stack, "up", ())
    (run,) = history_on(hub.client(), "tenantry-system", "dev").newest_first()
    assert run.result == result
