import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from parts import sleeper, supervisor

from tenantry.model import SecretKey
from tenantry_sandbox import programs
from tenantry_sandbox.layout import Layout, SandboxError
from tenantry_sandbox.spec import RemoteSpec, SandboxSpec
from tenantry_sandbox.supervisor import existing, load
from tenantry_sandbox.up import BringUp, down, up

SECRET = SecretKey(namespace="kamaji-edge", name="edge-1-admin-kubeconfig", key="admin.conf")
REMOTE = RemoteSpec("edge-1", SECRET, ())


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    return SandboxSpec("dev", "hub-dev", (), (REMOTE,), tmp_path / "content", ())


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
    first = supervisor(tmp_path / "sandbox")
    first.ensure(sleeper("kwok"), sleeper("kube-apiserver"))
    mine = [each.process for each in first.state.running.values()]
    other = supervisor(tmp_path / "other")
    other.ensure(sleeper())
    told: list[str] = []

    down(tmp_path / "sandbox", told.append)

    assert [each.find() for each in mine] == [None, None]
    assert other.state.running["edge-1/kwok"].process.find() is not None
    assert not (tmp_path / "sandbox").exists()
    assert told == ["ended 2 processes", "the sandbox is removed"]
    down(tmp_path / "other", told.append)


def test_down_finds_nothing_to_do_where_no_sandbox_is(tmp_path: Path) -> None:
    told: list[str] = []

    down(tmp_path / "missing", told.append)

    assert told == [f"no sandbox in {tmp_path / 'missing'}"]


def test_down_does_not_delete_a_directory_that_is_no_sandbox(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(SandboxError, match="is not a sandbox"):
        down(tmp_path, print)

    assert (tmp_path / "thesis.tex").exists()


def test_down_works_before_anything_was_written_down(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "sandbox")
    layout.claim()

    down(layout.root, lambda _: None)

    assert not layout.root.exists()


def test_another_environment_is_refused_while_one_is_there(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(lambda _: None)
    up(spec, root, print)

    with pytest.raises(SandboxError) as refusal:
        up(dataclasses.replace(spec, environment="prod", management="hub-prod"), root, print)

    assert refusal.value.message == (f"the sandbox in {root} runs environment 'dev' on hub-dev, not 'prod' on hub-prod")
    assert refusal.value.fix == "take it down first: tenantry sandbox down"


def test_a_remote_may_join_and_one_that_left_is_mentioned(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(lambda _: None)
    told: list[str] = []
    up(spec, root, told.append)

    joined = dataclasses.replace(REMOTE, name="edge-2")
    up(dataclasses.replace(spec, remotes=(joined,)), root, told.append)

    state = load(Layout(root))
    assert state is not None
    assert state.clusters == ("hub-dev", "edge-1", "edge-2")
    assert told == ["edge-1 is no longer part of environment 'dev'; it keeps running until `tenantry sandbox down`"]


def test_ports_stay_what_they_were(spec: SandboxSpec, root: Path, play: Callable[..., None]) -> None:
    seen: list[dict[str, int]] = []
    play(lambda bringing: seen.append(dict(bringing.ports)))

    up(spec, root, print)
    up(spec, root, print)

    assert seen[0] == seen[1]
    assert len(set(seen[0].values())) == 15


def test_a_first_run_that_fails_ends_what_it_started_and_leaves_the_logs(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(fail)

    with pytest.raises(SandboxError, match="kwok of edge-1 ended"):
        up(spec, root, print)

    state = load(Layout(root))
    assert state is not None
    assert state.running == {}
    assert Layout(root).log("edge-1", "kwok").exists()


def test_a_first_run_that_is_interrupted_leaves_nothing(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(interrupt)

    with pytest.raises(KeyboardInterrupt):
        up(spec, root, print)

    assert not root.exists()


def test_a_later_run_that_is_interrupted_leaves_what_was_there(
    spec: SandboxSpec, root: Path, play: Callable[..., None]
) -> None:
    play(start_one)
    up(spec, root, print)
    play(interrupt)

    with pytest.raises(KeyboardInterrupt):
        up(spec, root, print)

    assert existing(root)[1].running["edge-1/kwok"].process.find()
    down(root, print)


def test_a_cluster_called_like_one_of_the_sandboxs_own_folders_is_refused(spec: SandboxSpec, root: Path) -> None:
    with pytest.raises(SandboxError, match="a cluster in a sandbox cannot be called 'logs'"):
        up(dataclasses.replace(spec, management="logs"), root, print)

    assert not root.exists()
