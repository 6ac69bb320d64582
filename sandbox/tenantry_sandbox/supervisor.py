"""Starts parts, waits until they are ready, and ends those that it started when something fails.

What runs is written down at every change, so that `down` finds each process even when `up` was killed half-way.
"""

import signal
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError

from tenantry_sandbox import process
from tenantry_sandbox.layout import Layout, SandboxError, Unreachable, write_private
from tenantry_sandbox.process import Process

SHARED = "sandbox"
"""Owner of the parts that all clusters use."""
POLL = 0.05
READY_TIMEOUT = 120.0
"""Seconds a part may take to become ready: far more than it needs, for machines that are busy."""
GRACE = 8.0
"""Seconds a part gets to end by itself; helm-controller alone may need five."""
SERVERS = ("etcd", "kube-apiserver")
SERVERS_GRACE = 0.3
TAIL = 12

Report = Callable[[str], None]


class Running(BaseModel):
    """A part and its process."""

    owner: str
    part: str
    ports: tuple[int, ...]
    process: Process


class State(BaseModel):
    """What one sandbox runs, on which ports, as which processes."""

    environment: str
    clusters: tuple[str, ...]
    """The management cluster first."""
    ports: dict[str, int] = {}
    running: dict[str, Running] = {}

    def save(self, layout: Layout) -> None:
        write_private(layout.record, self.model_dump_json(indent=1).encode())


def load(layout: Layout) -> State | None:
    """The state of the sandbox; None before its first `up` got as far as writing one.

    Raises:  SandboxError: the file was changed by something else, so nothing can be said about the processes.
    """
    try:
        return State.model_validate_json(layout.record.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as damage:
        fix = f"end the processes that work below {layout.root} by hand, then remove that directory"
        raise SandboxError(f"{layout.record} cannot be read", fix) from damage


def existing(root: Path) -> tuple[Layout, State]:
    """The sandbox in a directory. Raises: SandboxError: there is none."""
    layout = Layout(root.resolve())
    state = load(layout) if layout.exists() else None
    if state is None:
        raise SandboxError(f"there is no sandbox in {root}", "start one: tenantry sandbox up")
    return layout, state


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the sandbox: whose it is, and how it is started.

    restarts: how often it may end by itself while the sandbox comes up, and is started again, as a kubelet would do.
    """

    owner: str
    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    ports: tuple[int, ...] = ()
    restarts: int = 0

    @property
    def key(self) -> str:
        return f"{self.owner}/{self.name}"


@dataclass(slots=True)
class Supervisor:
    """Runs the parts of one sandbox for the length of one command."""

    layout: Layout
    state: State
    report: Report
    """Called for every part that was started and is ready."""
    _started: dict[str, float] = field(default_factory=dict)
    """The parts that this command started, by key, and when; 0 for those that are ready."""
    _ensured: dict[str, Part] = field(default_factory=dict)
    _restarted: dict[str, int] = field(default_factory=dict)

    def ensure(self, *parts: Part) -> None:
        """Start the parts that do not run, and restart those that run with another command line."""
        for part in parts:
            known = self.state.running.get(part.key)
            if known is None or known.process.argv != part.argv or not known.process.find():
                self._start(part)
            self._ensured[part.key] = part

    def wait(self, part: Part, ready: Callable[[], bool]) -> None:
        """Return once the part is ready.

        Raises:  SandboxError: it ended, or was not ready in time.
        """
        deadline = time.monotonic() + READY_TIMEOUT
        while not _is_ready(ready):
            self.check()
            if time.monotonic() > deadline:
                raise self._failure(part, f"was not ready after {READY_TIMEOUT:.0f} s")
            time.sleep(POLL)
        self.check()
        if start := self._started.get(part.key):
            self.report(f"{part.owner}: {part.name} ready ({time.monotonic() - start:.1f} s)")
            self._started[part.key] = 0

    def check(self) -> None:
        """Check that every part still runs that this command found or started.

        All of them, because a part that does not become ready may wait for another one that has ended.

        Raises:  SandboxError: one has ended; with its exit code and the end of its log.
        """
        for part in self._ensured.values():
            ended = self.state.running[part.key].process
            if ended.find():
                continue
            if self._restarted.get(part.key, 0) >= part.restarts:
                code = ended.exit_code()
                raise self._failure(part, "ended" if code is None else f"ended with exit code {code}")
            self._restarted[part.key] = self._restarted.get(part.key, 0) + 1
            self.report(f"{part.owner}: {part.name} ended and is started again; its log is {self._log(part)}")
            self._start(part)

    def retire(self) -> None:
        """End the parts of these clusters that this command was not asked for, such as the controllers of a former shard."""
        owners = {part.owner for part in self._ensured.values()}
        self._end(
            [key for key, part in self.state.running.items() if part.owner in owners and key not in self._ensured]
        )

    def take_back(self) -> None:
        """End every part that this command started."""
        self._end([key for key in self._started if key in self.state.running])

    def _end(self, keys: Collection[str]) -> None:
        end(self.state.running[key] for key in keys)
        for key in keys:
            del self.state.running[key]
        self.state.save(self.layout)

    def _start(self, part: Part) -> None:
        if former := self.state.running.get(part.key):
            process.stop([former.process], GRACE)
        # An interrupt must not fall between the start of a process and writing it down.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            started = process.start(part.argv, part.environment, self._log(part))
            self.state.running[part.key] = Running(owner=part.owner, part=part.name, ports=part.ports, process=started)
            self._started[part.key] = time.monotonic()
            self.state.save(self.layout)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _log(self, part: Part) -> Path:
        return self.layout.log(part.owner, part.name)

    def _failure(self, part: Part, what: str) -> SandboxError:
        log = self._log(part)
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        # Of a Go program that panicked the beginning of its report, before pages of stack traces; else the end.
        broken = [number for number, line in enumerate(lines) if line.startswith(("panic:", "fatal error:"))]
        first = broken[-1] if broken else max(0, len(lines) - TAIL)
        tail = [f"  {line}" for line in lines[first : first + TAIL]]
        message = "\n".join([f"{part.name} of {part.owner} {what}; the end of its log:", *tail])
        return SandboxError(message, f"the whole log is {log}")


def end(running: Iterable[Running]) -> None:
    """End the parts, first the clients of servers: without an answer they would hang.

    The servers get little time to end by themselves: an API server would take seconds and etcd two more, and by then the kernel
    has all data that etcd has acknowledged.
    """
    parts = list(running)
    process.stop([part.process for part in parts if part.part not in SERVERS], GRACE)
    process.stop([part.process for part in parts if part.part in SERVERS], SERVERS_GRACE)


def _is_ready(ready: Callable[[], bool]) -> bool:
    try:
        return ready()
    except Unreachable:
        return False
