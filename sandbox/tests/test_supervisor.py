import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parts import shell, sleeper
from parts import supervisor as new_supervisor

from tenantry_sandbox import process, supervisor
from tenantry_sandbox.layout import SandboxError, Unreachable
from tenantry_sandbox.supervisor import Report, Supervisor, load


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Supervisor]:
    first = new_supervisor(tmp_path / "root")
    yield first
    process.stop([each.process for each in first.state.running.values()], 5)


def again(first: Supervisor, report: Report = print) -> Supervisor:
    """That of another command for the same sandbox."""
    return Supervisor(first.layout, first.state, report)


def pid(supervisor: Supervisor, key: str = "edge-1/kwok") -> int:
    return supervisor.state.running[key].process.pid


def test_a_part_is_written_down_as_soon_as_it_runs(first: Supervisor) -> None:
    again(first).ensure(sleeper())

    found = load(first.layout)
    assert found is not None
    assert found.running == first.state.running
    assert found.running["edge-1/kwok"].ports == (20001,)


def test_a_part_that_runs_as_described_is_left_alone(first: Supervisor) -> None:
    again(first).ensure(sleeper())
    before = pid(first)

    again(first).ensure(sleeper())

    assert pid(first) == before


def test_a_part_that_has_ended_is_started_again(first: Supervisor) -> None:
    again(first).ensure(sleeper())
    before = pid(first)
    process.stop([first.state.running["edge-1/kwok"].process], 5)

    again(first).ensure(sleeper())

    assert pid(first) != before


def test_a_part_that_is_described_otherwise_is_replaced(first: Supervisor) -> None:
    again(first).ensure(sleeper())
    former = first.state.running["edge-1/kwok"].process

    again(first).ensure(shell("sleep 61; :"))

    assert former.find() is None
    assert first.state.running["edge-1/kwok"].process.find() is not None


def test_a_part_that_ends_is_reported_with_its_exit_code_and_the_end_of_its_log(first: Supervisor) -> None:
    part = shell("echo cannot listen on 20001; exit 3")
    running = again(first)
    running.ensure(part)

    with pytest.raises(SandboxError) as failure:
        running.wait(part, lambda: False)

    log = first.layout.log("edge-1", "kwok")
    assert failure.value.message == (
        "kwok of edge-1 ended with exit code 3; the end of its log:\n  cannot listen on 20001"
    )
    assert failure.value.fix == f"the whole log is {log}"


def test_a_part_is_not_waited_for_when_another_one_has_ended(first: Supervisor) -> None:
    waiting, ended = sleeper("kube-scheduler"), shell("exit 4", "kube-apiserver")
    running = again(first)
    running.ensure(waiting, ended)

    with pytest.raises(SandboxError, match="kube-apiserver of edge-1 ended with exit code 4"):
        running.wait(waiting, lambda: False)


def test_a_part_that_is_never_ready_is_given_up(first: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "READY_TIMEOUT", 0.1)
    running = again(first)
    running.ensure(sleeper())

    with pytest.raises(SandboxError, match="kwok of edge-1 was not ready after 0 s"):
        running.wait(sleeper(), lambda: False)


def test_a_cluster_that_does_not_answer_is_not_ready_yet(first: Supervisor) -> None:
    asked: list[str] = []

    def ready() -> bool:
        asked.append("ready?")
        if len(asked) == 1:
            raise Unreachable("no answer", "wait")
        return True

    running = again(first)
    running.ensure(sleeper())
    running.wait(sleeper(), ready)

    assert len(asked) == 2


def test_a_part_is_reported_ready_once_and_only_by_the_command_that_started_it(first: Supervisor) -> None:
    told: list[str] = []
    for command in (again(first, told.append), again(first, told.append)):
        command.ensure(sleeper())
        command.wait(sleeper(), lambda: True)
        command.wait(sleeper(), lambda: True)

    assert told == ["edge-1: kwok ready (0.0 s)"]


def test_taking_back_ends_what_this_command_started_and_nothing_else(first: Supervisor) -> None:
    first.ensure(sleeper("etcd"))
    failing = again(first)
    failing.ensure(sleeper("etcd"), sleeper("kwok"))
    kwok = first.state.running["edge-1/kwok"].process

    failing.take_back()

    assert kwok.find() is None
    assert list(first.state.running) == ["edge-1/etcd"]
    assert first.state.running["edge-1/etcd"].process.find() is not None


def test_a_part_that_is_no_longer_asked_for_is_ended_unless_its_cluster_has_left(first: Supervisor) -> None:
    first.ensure(sleeper("kwok"), sleeper("source-controller-a"), sleeper("kwok", "edge-9"))
    later = again(first)
    later.ensure(sleeper("kwok"))

    later.retire()

    assert list(first.state.running) == ["edge-1/kwok", "edge-9/kwok"]
    assert load(first.layout) == first.state


def test_an_interrupt_while_a_part_is_started_comes_when_it_is_written_down(
    first: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = process.start

    def interrupted(*arguments: Any) -> process.Process:
        started = start(*arguments)
        signal.raise_signal(signal.SIGINT)
        return started

    monkeypatch.setattr(process, "start", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            first.ensure(sleeper())
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(first.state.running) == ["edge-1/kwok"]
    assert load(first.layout) == first.state


def test_a_part_that_may_ends_and_is_started_again(first: Supervisor, tmp_path: Path) -> None:
    said: list[str] = []
    running, flag = again(first, said.append), tmp_path / "flag"
    part = replace(shell(f"test -e {flag} && sleep 60; touch {flag}; exit 3"), restarts=1)
    running.ensure(part)

    running.wait(
        part, lambda: flag.exists() and first.state.running[part.key].process.find() is not None and len(said) > 0
    )

    log = first.layout.log(part.owner, part.name)
    assert said[0] == f"edge-1: kwok ended and is started again; its log is {log}"
    running.take_back()
    assert first.state.running == {}


def test_a_part_that_ends_too_often_is_given_up(first: Supervisor) -> None:
    said: list[str] = []
    running = again(first, said.append)
    part = replace(shell("echo bye; exit 3"), restarts=2)
    running.ensure(part)

    with pytest.raises(SandboxError, match="kwok of edge-1 ended with exit code 3; the end of its log:"):
        running.wait(part, lambda: False)

    assert len(said) == 2


def test_a_go_program_that_broke_off_is_told_by_its_first_words(first: Supervisor) -> None:
    lines = "; ".join(f"echo line {number}" for number in range(20))
    part = shell(f"{lines}; echo 'fatal error: all is lost'; {lines}; exit 2")
    running = again(first)
    running.ensure(part)

    with pytest.raises(SandboxError, match="the end of its log:\n  fatal error: all is lost\n  line 0\n"):
        running.wait(part, lambda: False)
