"""Pulumi runs that are killed at a point of their progress, and what follows by docs/recovery.md.

How far a run has got is told by the engine's event log, so a point is the same on a slow machine as on a fast one.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tenantry.stacks.command import tuned
from tests.e2e.clusters import eventually
from tests.e2e.project import TIMEOUT, Project
from tests.faults.api import Api

_TUNED = {verb: tuned(verb, "dev", ("--yes", "--skip-preview")) for verb in ("up", "destroy")}
UP, DESTROY = (_TUNED[verb].argv[1:] for verb in ("up", "destroy"))
"""As `tenantry up` and `destroy` run them."""
_PREVIEW = ("preview", "--stack", "dev")
POINTS = 20
SEED = 5
CANCEL = ("cancel", "--stack", "dev", "--yes")
_FORGET = ("refresh", "--stack", "dev", "--yes", "--skip-preview", "--clear-pending-creates")
_STEPS = ("resourcePreEvent", "resOutputsEvent")
_POLL = 0.005


@dataclass(frozen=True, slots=True)
class Crash:
    """share: how much of the run is behind it, from 0 to 1. whole: the provider and the program die with the engine.

    checkpoints: whether the engine writes its state at every step, or only at the end. edited: of an `up`, whether it
    finds the fleet there in another form, or nothing.
    """

    number: int
    share: float
    whole: bool
    checkpoints: bool
    edited: bool

    def __str__(self) -> str:
        return f"{self.number}-{self.share:.2f}"


def crashes(points: int, seed: int) -> list[Crash]:
    """Points that are spread over a run, one in each of as many equal parts of it, and in no order.

    Four of them bring each two of the three choices together in every way, and eight bring all three together.
    """
    chance = random.Random(seed)
    shares = [(index + chance.random()) / points for index in range(points)]
    chance.shuffle(shares)
    return [
        Crash(
            number,
            share,
            whole=number % 2 == 0,
            checkpoints=number // 2 % 2 == 0,
            edited=(number % 4 in (1, 2)) != (number // 4 % 2 == 1),
        )
        for number, share in enumerate(shares)
    ]


@dataclass(frozen=True, slots=True)
class Ended:
    """How many steps a run had made, and whether it was killed then or had come to its end."""

    steps: int
    killed: bool


def steps_of(project: Project) -> int:
    """How many steps an `up` makes that nothing happens to, but for its deletions: as many as its preview."""
    with crashed(project, _PREVIEW) as ended:
        return ended.steps


@contextmanager
def crashed(project: Project, command: tuple[str, ...], crash: Crash | None = None, steps: int = 0) -> Iterator[Ended]:
    """Run Pulumi, and kill it once it has made its share of the steps; what lives on does so until the context ends."""
    last = max(1, int(crash.share * steps)) if crash else None
    survivors: list[psutil.Process] = []
    with started(project, command, last, checkpoints=crash is not None and crash.checkpoints) as (run, done):
        try:
            if crash and run.poll() is None:
                survivors = _kill(run, whole=crash.whole)
            code = run.wait(TIMEOUT)
            assert code in (0, -9), output(project)
            yield Ended(done, killed=code != 0)
        finally:
            _end(survivors)


@contextmanager
def started(
    project: Project, command: tuple[str, ...], last: int | None, *, checkpoints: bool = False
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A run of Pulumi that has made a number of steps, if that is not all of it, and goes on; and how many it has made.

    last: None: all. The run ends with the context.
    """
    log = project.root / "events.json"
    log.write_text("")
    with _output_file(project).open("w") as stream:
        run = subprocess.Popen(
            ["pulumi", "--non-interactive", *command, "--event-log", str(log)],
            cwd=project.root,
            env=_environment(project, checkpoints=checkpoints),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        yield run, _watch(run, log, last)
    finally:
        if run.poll() is None:
            _kill(run, whole=True)
        run.wait(TIMEOUT)


def output(project: Project) -> str:
    """What the run that was started last has said so far."""
    return _output_file(project).read_text()


def _output_file(project: Project) -> Path:
    return project.root / "pulumi.log"


def _environment(project: Project, *, checkpoints: bool) -> dict[str, str]:
    project.give()
    variables = {**project.environment(), **_TUNED["up"].variables, "PULUMI_DEBUG_COMMANDS": "true"}
    if checkpoints:
        del variables["PULUMI_SKIP_CHECKPOINTS"]
    return variables


def _watch(run: subprocess.Popen[bytes], log: Path, last: int | None) -> int:
    """Wait until a run has made a number of steps, or is at its end; tells how many it has made."""
    deadline, made = time.monotonic() + TIMEOUT, 0
    with log.open() as events:
        rest = ""
        while last is None or made < last:
            ended = run.poll() is not None
            *lines, rest = (rest + events.read()).split("\n")
            made += sum(any(step in json.loads(line) for step in _STEPS) for line in lines if line)
            if ended:
                break
            assert time.monotonic() < deadline, f"the run has made {made} steps in {TIMEOUT} s"
            time.sleep(_POLL)
    return made


def _kill(run: subprocess.Popen[bytes], *, whole: bool) -> list[psutil.Process]:
    """Kill the engine, and with it the rest or not; returns what may live on."""
    with suppress(psutil.NoSuchProcess):
        engine = psutil.Process(run.pid)
        engine.suspend()
        others = engine.children(recursive=True)
        engine.kill()
        if whole:
            _end(others)
        return others
    return []


def _end(processes: list[psutil.Process]) -> None:
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            each.kill()


def state_file(project: Project) -> Path:
    """Where the backend of a sandbox keeps the state of the stack."""
    return project.sandbox / "state" / ".pulumi" / "stacks" / "tenantry" / "dev.json"


def recover(project: Project, command: tuple[str, ...]) -> list[str]:
    """What docs/recovery.md says after a run that was killed; returns what had to be done."""
    done = ["cancel"]
    cancelled = project.pulumi(*CANCEL)
    if "failed to load checkpoint" in cancelled.text:
        restore(project)
        done.insert(0, "state from its backup")
        cancelled = project.pulumi(*CANCEL)
    cancelled.ok()
    done.append(command[0])
    if "pending operations" in project.pulumi(*command).ok().text:
        project.pulumi(*_FORGET).ok()
        done.append("refresh")
    return done


def forget(project: Project) -> None:
    """Delete the namespaces that a destroyed fleet has left with their data, as somebody who needs them no more."""
    apis = [Api(project.kubeconfig(cluster)) for cluster in ("hub", "edge")]
    for api in apis:
        for each in _left(api):
            api.ask("DELETE", f"/api/v1/namespaces/{each['metadata']['name']}")
    eventually(lambda: not any(map(_left, apis)), "the namespaces to be gone")


def _left(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ask("GET", "/api/v1/namespaces?labelSelector=toolkit.fluxcd.io/tenant").body[
        "items"
    ]
    return found


def restore(project: Project) -> None:
    """Put the state back as it was one write earlier."""
    file = state_file(project)
    shutil.copy(file.with_name(f"{file.name}.bak"), file)
