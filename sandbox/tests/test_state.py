from pathlib import Path

import pytest

from tenantry_sandbox.layout import Layout, SandboxError
from tenantry_sandbox.process import Process
from tenantry_sandbox.supervisor import Running, State, existing, load

RUNNING = Running(owner="edge-1", part="kwok", ports=(20001,), process=Process(4711, 12.5, ("/bin/kwok", "--x=y")))


def test_what_is_saved_is_there_for_the_next_command(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    state = State(environment="dev", clusters=("hub-dev", "edge-1"), ports={"etcd": 20000})
    state.running["edge-1/kwok"] = RUNNING
    state.save(layout)

    assert load(layout) == state


def test_a_sandbox_that_was_only_just_made_remembers_nothing(tmp_path: Path) -> None:
    assert load(Layout(tmp_path)) is None


def test_nor_is_it_one_for_commands(tmp_path: Path) -> None:
    Layout(tmp_path / "sandbox").claim()

    for root in (tmp_path, tmp_path / "sandbox"):
        with pytest.raises(SandboxError, match="there is no sandbox in"):
            existing(root)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"running": {"a": {}}}'])
def test_a_damaged_memory_is_refused_with_the_way_out(tmp_path: Path, text: str) -> None:
    layout = Layout(tmp_path)
    layout.record.write_text(text)

    with pytest.raises(SandboxError, match=r"state\.json cannot be read") as refusal:
        load(layout)

    assert str(tmp_path) in refusal.value.fix
