import dataclasses
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tenantry.sandbox import lifecycle, programs
from tenantry.sandbox.bringup import BringUp
from tenantry.sandbox.layout import Layout, SandboxError
from tenantry.sandbox.spec import RemoteSpec, SandboxSpec
from tenantry.sandbox.state import load
from tenantry.sandbox.supervisor import Supervisor

from tests.project.sandbox.parts import new_state, sleeper

REMOTE = RemoteSpec("edge-1", "kamaji-edge", "edge-1-admin-kubeconfig", "admin.conf", ())


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    return SandboxSpec(
        "dev", "hub-dev", (), (REMOTE,), (), tmp_path / "git", (), tmp_path / "oci", tmp_path / "buckets"
    )


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(programs, "require", lambda: None)
    return tmp_path / "sandbox"


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[BringUp], None]], None]:
    """Puts something else in the place of bringing up real clusters."""
    return lambda scene: monkeypatch.setattr(BringUp, "run", scene)


def start_one(bringing: BringUp) -> None:
    bringing.supervisor.ensure(sleeper())


def fail(bringing: BringUp) -> None:
    start_one(bringing)
    raise SandboxError("kwok of edge-1 ended", "see its log")


def interrupt(bringing: BringUp) -> None:
    start_one(bringing)
    raise KeyboardInterrupt


def test_down_ends_exactly_what_was_started_and_leaves_nothing(tmp_path: Path) -> None:
    state = new_state(tmp_path / "sandbox")
    Supervisor(state, print).ensure(sleeper("kwok"), sleeper("kube-apiserver"))
    mine = [each.process for each in state.running.values()]
    other = Supervisor(new_state(tmp_path / "other"), print)
    other.ensure(sleeper())
    told: list[str] = []

    lifecycle.down(tmp_path / "sandbox", told.append)

    assert [each.find() for each in mine] == [None, None]
    assert other.state.running["edge-1/kwok"].process.find() is not None
    assert not (tmp_path / "sandbox").exists()
    assert told == ["ended 2 processes", "the sandbox is removed"]
    lifecycle.down(tmp_path / "other", told.append)


def test_down_finds_nothing_to_do_where_no_sandbox_is(tmp_path: Path) -> None:
    told: list[str] = []

    lifecycle.down(tmp_path / "missing", told.append)

    assert told == [f"no sandbox in {tmp_path / 'missing'}"]


def test_down_does_not_delete_a_directory_that_is_no_sandbox(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(SandboxError, match="is not a sandbox"):
        lifecycle.down(tmp_path, print)

    assert (tmp_path / "thesis.tex").exists()


def test_down_works_before_anything_was_written_down(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "sandbox")
    layout.claim()

    lifecycle.down(layout.root, lambda _: None)

    assert not layout.root.exists()


def test_another_environment_is_refused_while_one_is_there(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(lambda _: None)
    lifecycle.up(spec, root, print)

    with pytest.raises(SandboxError) as refusal:
        lifecycle.up(dataclasses.replace(spec, environment="prod", management="hub-prod"), root, print)

    assert refusal.value.message == (f"the sandbox in {root} runs environment 'dev' on hub-dev, not 'prod' on hub-prod")
    assert refusal.value.fix == "take it down first: tenantry sandbox down"


def test_a_remote_may_join_and_one_that_left_is_mentioned(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(lambda _: None)
    told: list[str] = []
    lifecycle.up(spec, root, told.append)

    joined = dataclasses.replace(REMOTE, name="edge-2")
    lifecycle.up(dataclasses.replace(spec, remotes=(joined,)), root, told.append)

    state = load(Layout(root))
    assert state is not None
    assert state.clusters == ("hub-dev", "edge-1", "edge-2")
    assert told == ["edge-1 is no longer part of environment 'dev'; it keeps running until `tenantry sandbox down`"]


def test_ports_stay_what_they_were(spec: SandboxSpec, root: Path, play: Callable[..., None]) -> None:
    seen: list[dict[str, int]] = []
    play(lambda bringing: seen.append(dict(bringing.ports)))

    lifecycle.up(spec, root, print)
    lifecycle.up(spec, root, print)

    assert seen[0] == seen[1]
    assert len(set(seen[0].values())) == 13


def test_a_taken_content_port_is_named_before_anything_is_made(spec: SandboxSpec, root: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        with pytest.raises(
            SandboxError, match=f"port {port} on 127.0.0.1, which the sources of environment 'dev' name"
        ):
            lifecycle.up(dataclasses.replace(spec, ports=(port,)), root, print)

    assert not root.exists()


def test_a_port_that_the_sandbox_itself_holds_is_no_obstacle(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(start_one)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 20001))
        server.listen()
        lifecycle.up(spec, root, print)
        lifecycle.up(dataclasses.replace(spec, ports=(20001,)), root, print)

    lifecycle.down(root, print)


def test_a_first_run_that_fails_ends_what_it_started_and_leaves_the_logs(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(fail)

    with pytest.raises(SandboxError, match="kwok of edge-1 ended"):
        lifecycle.up(spec, root, print)

    state = load(Layout(root))
    assert state is not None
    assert state.running == {}
    assert Layout(root).log("edge-1", "kwok").exists()


def test_a_first_run_that_is_interrupted_leaves_nothing(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(interrupt)

    with pytest.raises(KeyboardInterrupt):
        lifecycle.up(spec, root, print)

    assert not root.exists()


def test_a_later_run_that_is_interrupted_leaves_what_was_there(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(start_one)
    lifecycle.up(spec, root, print)
    play(interrupt)

    with pytest.raises(KeyboardInterrupt):
        lifecycle.up(spec, root, print)

    assert lifecycle.status(root).parts[0].alive
    lifecycle.down(root, print)


def test_a_cluster_called_like_one_of_the_sandboxs_own_folders_is_refused(spec: SandboxSpec, root: Path) -> None:
    with pytest.raises(SandboxError, match="a cluster in a sandbox cannot be called 'logs'"):
        lifecycle.up(dataclasses.replace(spec, management="logs"), root, print)

    assert not root.exists()
