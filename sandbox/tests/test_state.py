from pathlib import Path

import pytest
from tenantry.sandbox.layout import Layout, SandboxError
from tenantry.sandbox.process import Process
from tenantry.sandbox.state import Running, State, load

RUNNING = Running("edge-1", "kwok", (20001,), Process(4711, 12.5, ("/bin/kwok", "--x=y")))


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(Layout(tmp_path), "dev", ("hub-dev", "edge-1"), {"etcd": 20000})


def test_what_is_added_is_there_for_the_next_command(state: State) -> None:
    state.add("edge-1/kwok", RUNNING)

    found = load(state.layout)

    assert found is not None
    assert (found.environment, found.clusters, found.ports) == ("dev", ("hub-dev", "edge-1"), {"etcd": 20000})
    assert found.running == {"edge-1/kwok": RUNNING}


def test_what_is_discarded_is_not(state: State) -> None:
    state.add("edge-1/kwok", RUNNING)
    state.discard("edge-1/kwok")

    found = load(state.layout)

    assert found is not None
    assert found.running == {}


def test_a_sandbox_that_was_only_just_made_remembers_nothing(tmp_path: Path) -> None:
    assert load(Layout(tmp_path)) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"running": {"a": {}}}'])
def test_a_damaged_memory_is_refused_with_the_way_out(tmp_path: Path, text: str) -> None:
    layout = Layout(tmp_path)
    layout.record.write_text(text)

    with pytest.raises(SandboxError, match=r"state\.json cannot be read") as refusal:
        load(layout)

    assert str(tmp_path) in refusal.value.fix
