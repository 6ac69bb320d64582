import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tenantry.sandbox import process, supervisor
from tenantry.sandbox.layout import SandboxError, Unreachable
from tenantry.sandbox.state import State, load
from tenantry.sandbox.supervisor import Supervisor

from tests.project.sandbox.parts import new_state, shell, sleeper


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = new_state(tmp_path / "root")
    yield state
    process.stop([each.process for each in state.running.values()], 5)


def pid(state: State, key: str = "edge-1/kwok") -> int:
    return state.running[key].process.pid


def test_a_part_is_written_down_as_soon_as_it_runs(state: State) -> None:
    Supervisor(state, print).ensure(sleeper())

    found = load(state.layout)
    assert found is not None
    assert found.running == state.running
    assert found.running["edge-1/kwok"].ports == (20001,)


def test_a_part_that_runs_as_described_is_left_alone(state: State) -> None:
    Supervisor(state, print).ensure(sleeper())
    before = pid(state)

    Supervisor(state, print).ensure(sleeper())

    assert pid(state) == before


def test_a_part_that_has_ended_is_started_again(state: State) -> None:
    Supervisor(state, print).ensure(sleeper())
    before = pid(state)
    process.stop([state.running["edge-1/kwok"].process], 5)

    Supervisor(state, print).ensure(sleeper())

    assert pid(state) != before


def test_a_part_that_is_described_otherwise_is_replaced(state: State) -> None:
    Supervisor(state, print).ensure(sleeper())
    former = state.running["edge-1/kwok"].process

    Supervisor(state, print).ensure(shell("sleep 61; :"))

    assert former.find() is None
    assert state.running["edge-1/kwok"].process.find() is not None


def test_a_part_that_ends_is_reported_with_its_exit_code_and_the_end_of_its_log(state: State) -> None:
    part = shell("echo cannot listen on 20001; exit 3")
    running = Supervisor(state, print)
    running.ensure(part)

    with pytest.raises(SandboxError) as failure:
        running.wait(part, lambda: False)

    log = state.layout.log("edge-1", "kwok")
    assert failure.value.message == (
        "kwok of edge-1 ended with exit code 3; the end of its log:\n  cannot listen on 20001"
    )
    assert failure.value.fix == f"the whole log is {log}"


def test_a_part_is_not_waited_for_when_another_one_has_ended(state: State) -> None:
    waiting, ended = sleeper("kube-scheduler"), shell("exit 4", "kube-apiserver")
    running = Supervisor(state, print)
    running.ensure(waiting, ended)

    with pytest.raises(SandboxError, match="kube-apiserver of edge-1 ended with exit code 4"):
        running.wait(waiting, lambda: False)


def test_a_part_that_is_never_ready_is_given_up(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "READY_TIMEOUT", 0.1)
    running = Supervisor(state, print)
    running.ensure(sleeper())

    with pytest.raises(SandboxError, match="kwok of edge-1 was not ready after 0 s"):
        running.wait(sleeper(), lambda: False)


def test_a_cluster_that_does_not_answer_is_not_ready_yet(state: State) -> None:
    asked: list[str] = []

    def ready() -> bool:
        asked.append("ready?")
        if len(asked) == 1:
            raise Unreachable("no answer", "wait")
        return True

    running = Supervisor(state, print)
    running.ensure(sleeper())
    running.wait(sleeper(), ready)

    assert len(asked) == 2


def test_a_part_is_reported_ready_once_and_only_by_the_command_that_started_it(state: State) -> None:
    told: list[str] = []
    first = Supervisor(state, told.append)
    first.ensure(sleeper())
    first.wait(sleeper(), lambda: True)
    first.wait(sleeper(), lambda: True)
    second = Supervisor(state, told.append)
    second.ensure(sleeper())
    second.wait(sleeper(), lambda: True)

    assert told == ["edge-1: kwok ready (0.0 s)"]


def test_taking_back_ends_what_this_command_started_and_nothing_else(state: State) -> None:
    Supervisor(state, print).ensure(sleeper("etcd"))
    failing = Supervisor(state, print)
    failing.ensure(sleeper("etcd"), sleeper("kwok"))
    kwok = state.running["edge-1/kwok"].process

    failing.take_back()

    assert kwok.find() is None
    assert list(state.running) == ["edge-1/etcd"]
    assert state.running["edge-1/etcd"].process.find() is not None


def test_the_first_failure_is_raised_and_ends_the_others_waiting(state: State) -> None:
    running = Supervisor(state, print)
    running.ensure(sleeper())
    waits = threading.Event()

    def waiting() -> None:
        waits.set()
        running.wait(sleeper(), lambda: False)

    def failing() -> None:
        waits.wait()
        raise SandboxError("it broke", "mend it")

    begun = time.monotonic()
    with pytest.raises(SandboxError, match="it broke"):
        running.concurrently(waiting, failing)

    assert time.monotonic() - begun < supervisor.READY_TIMEOUT


def test_nothing_is_started_any_more_once_something_failed(state: State) -> None:
    running = Supervisor(state, print)
    running.take_back()

    with pytest.raises(supervisor.Cancelled):
        running.ensure(sleeper())

    assert state.running == {}


def test_a_part_that_may_ends_and_is_started_again(state: State, tmp_path: Path) -> None:
    said: list[str] = []
    running, flag = Supervisor(state, said.append), tmp_path / "flag"
    part = replace(shell(f"test -e {flag} && sleep 60; touch {flag}; exit 3"), restarts=1)
    running.ensure(part)

    running.wait(part, lambda: flag.exists() and state.running[part.key].process.find() is not None and len(said) > 0)

    log = state.layout.log(part.owner, part.name)
    assert said[0] == f"edge-1: kwok ended and is started again; its log is {log}"
    running.take_back()
    assert state.running == {}


def test_a_part_that_ends_too_often_is_given_up(state: State) -> None:
    said: list[str] = []
    running = Supervisor(state, said.append)
    part = replace(shell("echo bye; exit 3"), restarts=2)
    running.ensure(part)

    with pytest.raises(SandboxError, match="kwok of edge-1 ended with exit code 3; the end of its log:"):
        running.wait(part, lambda: False)

    assert len(said) == 2


def test_a_go_program_that_broke_off_is_told_by_its_first_words(state: State) -> None:
    lines = "; ".join(f"echo line {number}" for number in range(20))
    part = shell(f"{lines}; echo 'fatal error: all is lost'; {lines}; exit 2")
    running = Supervisor(state, print)
    running.ensure(part)

    with pytest.raises(SandboxError, match="the end of its log:\n  fatal error: all is lost\n  line 0\n"):
        running.wait(part, lambda: False)
