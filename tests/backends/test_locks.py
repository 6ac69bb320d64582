"""State in files, in PostgreSQL and in a store with the protocol of S3, with the real engine: locks, killed runs, a lost server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tenantry_sandbox.tools.store import path_of
from tests.backends.relay import Relay
from tests.backends.servers import PROGRAMS, Server, postgresql, store
from tests.resident import programs

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
import time
from pathlib import Path
import pulumi

class Part(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("test:index:Part", name, {})
        self.register_outputs({})

for number in range(20):
    Part(f"part-{number}")
if Path("wait").exists():
    Path("waiting").touch()
    for _ in range(1200):
        if Path("go").exists():
            break
        time.sleep(0.1)
"""


_SERVERS = {"postgresql": postgresql, "s3": store}
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


class Project:
    """restart: ends the server and starts it again, which Pulumi reaches at the same address once the relay is open."""

    def __init__(self, root: Path, backend: str, restart: Callable[[], int]) -> None:
        self.root, self.restart = root, restart
        (root / "Pulumi.yaml").write_text(
            "name: state\nruntime: {name: python, options: {toolchain: pip, virtualenv: .venv}}\n"
        )
        (root / "__main__.py").write_text(PROGRAM)
        (root / ".venv").symlink_to(programs() / "venv")
        paths = {str(path_of(each).parent) for each in ("pulumi", "pulumi-language-python")}
        self.environment = {
            "HOME": str(root),
            "PATH": os.pathsep.join([*paths, os.environ["PATH"]]),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": backend,
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
            "AWS_ACCESS_KEY_ID": "anybody",
            "AWS_SECRET_ACCESS_KEY": "any",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["pulumi", "--non-interactive", *arguments],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        return self.end(self.start(*arguments))

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """Wait for the end of a run. A test that is interrupted leaves nothing of it."""
        with process:
            try:
                out, _ = process.communicate(timeout=300)
            except BaseException:
                kill(process)
                raise
        return process.returncode, out

    @contextmanager
    def waiting(self) -> Iterator[subprocess.Popen[str]]:
        """A run of stack `one` that has registered everything and goes on once there is a file `go`; killed in the end."""
        (self.root / "wait").touch()
        run = self.start(*UP)
        try:
            for _ in range(600):
                if (self.root / "waiting").exists() or run.poll() is not None:
                    break
                time.sleep(0.1)
            assert run.poll() is None
            yield run
        finally:
            kill(run)
            (self.root / "wait").unlink(missing_ok=True)

    def resources(self, stack: str = "one") -> list[str]:
        file = self.root / "export.json"
        code, said = self.run("stack", "export", "--stack", stack, "--file", str(file))
        assert code == 0, said
        return [each["urn"] for each in json.loads(file.read_text())["deployment"].get("resources") or []]


def kill(run: subprocess.Popen[str]) -> None:
    """End the engine, the language host, which has a process group of its own, and the program."""
    if run.poll() is None:
        engine = psutil.Process(run.pid)
        engine.suspend()
        for each in (*engine.children(recursive=True), engine):
            with suppress(psutil.NoSuchProcess):
                each.kill()
        run.communicate()


UP = ("up", "--yes", "--skip-preview", "--stack", "one")


@pytest.fixture
def relay() -> Iterator[Relay]:
    """What lies between Pulumi and the server."""
    with closing(Relay()) as made:
        yield made


@pytest.fixture(params=["file", *_SERVERS])
def project(request: pytest.FixtureRequest, tmp_path: Path, relay: Relay) -> Iterator[Project]:
    """A project with stack `one`."""
    if not shutil.which(str(path_of("pulumi"))):
        pytest.skip("pulumi is not built: make tools")
    with _backend(request.param, tmp_path, relay) as server:
        made = Project(tmp_path, *server)
        code, said = made.run("stack", "init", "one")
        assert code == 0, said
        yield made


@contextmanager
def _backend(name: str, directory: Path, relay: Relay) -> Iterator[Server]:
    if name == "file":
        (directory / "state").mkdir()
        yield Server(f"file://{directory}/state?metadata=skip", lambda: 0)
        return
    if name == "postgresql" and not PROGRAMS:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with _SERVERS[name]() as server:
        relay.open(int(_PORT.findall(server.address)[0]))
        yield Server(_PORT.sub(str(relay.port), server.address), server.restart)
        relay.close()


def test_a_killed_run_keeps_its_lock_and_the_next_one_loses_nothing(project: Project) -> None:
    with project.waiting():
        code, said = project.run(*UP)
        assert code != 0
        assert "the stack is currently locked by 1 lock(s)" in said
    assert "the stack is currently locked by 1 lock(s)" in project.run(*UP)[1]
    assert project.resources() == []
    assert project.run("cancel", "--yes", "--stack", "one")[0] == 0
    code, said = project.run(*UP)
    assert code == 0, said
    found = project.resources()
    assert (21, 21) == (len(found), len(set(found)))


def test_another_stack_runs_at_the_same_time(project: Project) -> None:
    assert project.run("stack", "init", "two")[0] == 0
    with project.waiting() as first:
        (project.root / "wait").unlink()
        code, said = project.run("up", "--yes", "--skip-preview", "--stack", "two")
        assert code == 0, said
        assert first.poll() is None, "it has ended before"
        (project.root / "go").touch()
        code, said = project.end(first)
        assert code == 0, said
    assert [len(project.resources(stack)) for stack in ("one", "two")] == [21, 21]


@pytest.mark.parametrize("project", _SERVERS, indirect=True)
def test_a_server_that_restarts_before_a_run_gives_up_loses_nothing(project: Project, relay: Relay) -> None:
    with project.waiting() as run:
        relay.close()
        (project.root / "go").touch()
        port = project.restart()
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(5)
        relay.open(port)
        code, said = project.end(run)
        assert code == 0, said
    found = project.resources()
    assert (21, 21) == (len(found), len(set(found)))
