"""What a run notes of itself in the environment's history, with an API server in memory."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components import comparing
from components.comparing import restoring
from components.config import ClusterTarget
from components.fleet import Fleet
from components.history import Log
from components.run import Run
from tenantry.cluster import connect
from tenantry.cluster.drift import Comparison, Difference
from tenantry.cluster.history import Counts, Entry, history_on
from tenantry.messages.errors import Refused
from tests.components.recording import record
from tests.components.test_comparing import DRIFT, PLAN, URN
from tests.unit.memory import Memory

ACCOUNT = next(each for each in PLAN.objects if each.id.kind == "ServiceAccount")
BINDING = next(each for each in PLAN.objects if each.id.kind == "RoleBinding")
BEFORE = [replace(DRIFT, by=""), Difference(ACCOUNT, None)]
PATH = "/api/v1/namespaces/ops/configmaps/tenantry-dev.history"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A cluster on which an app is not as planned and an account is missing; the state knows no other object."""
    memory = Memory()
    memory.objects["/apis/authentication.k8s.io/v1/selfsubjectreviews"] = {
        "status": {"userInfo": {"username": "system:serviceaccount:ci:deployer"}}
    }
    monkeypatch.setattr(connect, "connect", lambda *_: memory.client())
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison(BEFORE, []))
    monkeypatch.setattr(comparing, "confirmed", lambda _, found: found)
    monkeypatch.setattr(comparing, "namespaces_of", lambda _: ())
    monkeypatch.setattr(comparing, "outputs_in_state", dict)
    monkeypatch.setenv("TENANTRY_ACTOR", "jo")
    return memory


@pytest.fixture(autouse=True)
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What would run at the end of the program's process."""
    found: list[Callable[[], object]] = []
    monkeypatch.setattr(atexit, "register", lambda call, *given: found.append(lambda: call(*given)))
    monkeypatch.setattr(atexit, "unregister", lambda _: found.clear())
    return found


def log() -> Log:
    return Log(PLAN, ClusterTarget(), "ops", "fleet/dev", Path("/"))


def entries(memory: Memory) -> list[Entry]:
    return history_on(memory.client(), "ops", "dev").newest_first()


def begin(made: Log) -> Any:
    found: list[Any] = []
    record(lambda: found.append(restoring(PLAN, made.target, log=made)), config={})
    return found[0]


def run(made: Log) -> None:
    """Register what the plan has."""

    def build() -> None:
        compared = restoring(PLAN, made.target, log=made)
        Fleet("dev", run=Run(plan=PLAN, target=made.target, check=compared, log=made))

    record(build, config={})


def test_a_run_is_noted_before_its_first_change_with_all_that_it_sets_out_to_change(
    hub: Memory, at_exit: list[Callable[[], object]]
) -> None:
    begin(log())
    (entry,) = entries(hub)
    assert (entry.result, entry.user, entry.actor, entry.stack) == (
        "running",
        "system:serviceaccount:ci:deployer",
        "jo",
        "fleet/dev",
    )
    assert entry.changes == {"rocky": Counts(created=1, changed=1)}
    assert (len(entry.plan), entry.ended) == (16, "")
    # The process ends without an end of the run: a wave has failed, or the engine.
    at_exit[0]()
    assert [(each.result, bool(each.ended)) for each in entries(hub)] == [("failed", True)]


def test_a_run_that_goes_well_is_noted_so(
    hub: Memory, at_exit: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "compare_again", lambda *_: [])
    run(log())
    assert [(each.result, each.changes) for each in entries(hub)] == [("succeeded", {"rocky": Counts(1, 1)})]
    assert at_exit == []


def test_what_pulumi_deletes_after_the_program_is_only_said_to_be_begun(
    hub: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = {**BINDING.manifest["metadata"], "name": "old"}
    gone, orphan = (
        {**BINDING.manifest, "metadata": {**metadata, "name": name}} for name in ("old", "left-by-a-killed-run")
    )
    urn = f"{URN.partition('$')[0]}$kubernetes:{BINDING.id.api_version}:RoleBinding::rocky/old"
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([], [gone, orphan]))
    monkeypatch.setattr(comparing, "outputs_in_state", lambda: {urn: gone})
    monkeypatch.setattr(comparing, "delete", lambda *_: None)
    run(log())
    assert [(each.result, each.changes) for each in entries(hub)] == [("applied", {"rocky": Counts(deleted=2)})]


@pytest.mark.parametrize(("stays", "result"), [("waits", "waiting"), ("partly", "partly")])
def test_what_stays_as_it_is_is_said(hub: Memory, monkeypatch: pytest.MonkeyPatch, stays: str, result: str) -> None:
    monkeypatch.setattr(comparing, "compare_again", lambda *_: [])
    made = log()
    setattr(made, stays, True)
    run(made)
    assert [each.result for each in entries(hub)] == [result]


def test_a_run_that_is_begun_again_keeps_its_entry(
    hub: Memory, at_exit: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENANTRY_RUN", "ab12cd34")
    begin(log())
    at_exit.pop()()
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison(BEFORE[:1], []))
    begin(log())
    assert [(each.result, each.changes) for each in entries(hub)] == [("running", {"rocky": Counts(1, 1)})]
    assert all(key.endswith("-ab12cd34") for key in hub.objects[PATH]["data"])


def test_an_emergency_is_noted_with_its_reason(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_IGNORE", "dev windows: fire")
    begin(log())
    assert [(each.ignored, each.reason) for each in entries(hub)] == [(("windows",), "fire")]


def test_a_preview_and_a_run_that_changes_nothing_are_not_noted(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
        begin(log())
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([], []))
    begin(log())
    assert PATH not in hub.objects
    assert {method for method, _, _ in hub.requests} <= {"GET"}


def test_a_run_that_may_not_note_itself_changes_nothing(hub: Memory) -> None:
    hub.refuse("PATCH", PATH, 403, "no")
    with pytest.raises(Refused, match=r"cannot change ConfigMap ops/tenantry-dev.history: HTTP 403"):
        log().begin(hub.client(), BEFORE, [])


def test_the_record_keeps_the_run_without_what_it_changes(hub: Memory) -> None:
    assert '"stack":"fleet/dev"' in log().told()
    assert "changes" not in log().told()
    assert hub.requests == []
