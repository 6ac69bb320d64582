"""Starts parts, waits until they are ready, and ends those that it started when something fails."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from tenantry.sandbox import process
from tenantry.sandbox.layout import SandboxError, Unreachable
from tenantry.sandbox.state import Running, State

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

Task = Callable[[], None]
Report = Callable[[str], None]


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


class Cancelled(Exception):
    """Another thread failed or was interrupted; its error is the one to report."""


@dataclass(slots=True)
class Supervisor:
    """Runs the parts of one sandbox for the length of one command."""

    state: State
    report: Report
    """Told of every part that was started and is ready; may be called from several threads."""
    _started: list[str] = field(default_factory=list)
    """Keys of the parts that this command started."""
    _since: dict[str, float] = field(default_factory=dict)
    """When it did, for those of them that are not ready yet."""
    _ensured: dict[str, Part] = field(default_factory=dict)
    _restarted: dict[str, int] = field(default_factory=dict)
    _restarting: threading.Lock = field(default_factory=threading.Lock)
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def ensure(self, *parts: Part) -> None:
        """Start the parts that do not run, and restart those that run with another command line."""
        for part in parts:
            known = self.state.running.get(part.key)
            if known is None or known.process.argv != part.argv or not known.process.find():
                self._start(part, known)
            self._ensured[part.key] = part

    def retire(self, owner: str, kind: Callable[[str], bool], needed: Collection[str]) -> None:
        """End the parts of one kind that are no longer needed."""
        found = [
            (key, each)
            for key, each in self.state.running.items()
            if each.owner == owner and kind(each.part) and each.part not in needed
        ]
        process.stop([each.process for _, each in found], GRACE)
        for key, each in found:
            self.state.discard(key)
            self.report(f"{owner}: {each.part} is no longer needed and was ended")

    def wait(self, part: Part, ready: Callable[[], bool]) -> None:
        """Return once the part is ready.

        Raises:  SandboxError: it ended, or was not ready in time.
        """
        deadline = time.monotonic() + READY_TIMEOUT
        while not _tells(ready):
            self.check()
            if time.monotonic() > deadline:
                raise self._failure(part, f"was not ready after {READY_TIMEOUT:.0f} s")
            if self._cancelled.wait(POLL):
                raise Cancelled
        self.check()
        begun = self._since.pop(part.key, None)
        if begun is not None:
            self.report(f"{part.owner}: {part.name} ready ({time.monotonic() - begun:.1f} s)")

    def check(self) -> None:
        """Check that every part still runs that this command found or started.

        All of them, because a part that does not become ready may wait for another one that has ended.

        Raises:  SandboxError: one has ended; with its exit code and the end of its log.
        """
        for part in list(self._ensured.values()):
            known = self.state.running[part.key].process
            if known.find() is None and not self._restart(part):
                code = known.exit_code()
                raise self._failure(part, "ended" if code is None else f"ended with exit code {code}")

    def concurrently(self, *tasks: Task) -> None:
        """Run the tasks in parallel; the first failure makes the others stop waiting, and is raised."""
        with ThreadPoolExecutor(len(tasks)) as pool:
            futures = [pool.submit(task) for task in tasks]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                if not all(_succeeded(future) for future in futures):
                    self._cancelled.set()
        _raise_cause([error for future in futures if (error := future.exception())])

    def take_back(self) -> None:
        """End every part that this command started."""
        self._cancelled.set()
        end(self.state.running[key] for key in self._started)
        for key in self._started:
            self.state.discard(key)

    def _restart(self, part: Part) -> bool:
        """Start a part again that has ended, if it still may; several threads may see that it has."""
        with self._restarting:
            known = self.state.running[part.key]
            if known.process.find():
                return True
            if self._restarted.get(part.key, 0) >= part.restarts:
                return False
            self._restarted[part.key] = self._restarted.get(part.key, 0) + 1
            self.report(f"{part.owner}: {part.name} ended and is started again; its log is {self._log(part)}")
            self._start(part, known)
            return True

    def _start(self, part: Part, former: Running | None) -> None:
        if former:
            process.stop([former.process], GRACE)
        if self._cancelled.is_set():
            raise Cancelled
        started = process.start(part.argv, part.environment, self._log(part))
        self.state.add(part.key, Running(part.owner, part.name, part.ports, started))
        if part.key not in self._started:
            self._started.append(part.key)
        self._since[part.key] = time.monotonic()

    def _log(self, part: Part) -> Path:
        return self.state.layout.log(part.owner, part.name)

    def _failure(self, part: Part, what: str) -> SandboxError:
        log = self._log(part)
        tail = _telling(log.read_text(errors="replace").splitlines()) if log.exists() else []
        message = "\n".join(
            [f"{part.name} of {part.owner} {what}; the end of its log:", *(f"  {line}" for line in tail)]
        )
        return SandboxError(message, f"the whole log is {log}")


def _telling(lines: list[str]) -> list[str]:
    """The end of a log; of a Go program that panicked the beginning of its report, before pages of stack traces."""
    broken = [number for number, line in enumerate(lines) if line.startswith(("panic:", "fatal error:"))]
    begin = broken[-1] if broken else max(0, len(lines) - TAIL)
    return lines[begin : begin + TAIL]


def end(running: Iterable[Running]) -> None:
    """End the parts, first the clients of servers: without an answer they would hang.

    The servers get little time to end by themselves: an API server would take seconds and etcd two more, and by then the kernel
    has all data that etcd has acknowledged.
    """
    parts = list(running)
    process.stop([part.process for part in parts if part.part not in SERVERS], GRACE)
    process.stop([each.process for each in parts if each.part in SERVERS], SERVERS_GRACE)


def _tells(ready: Callable[[], bool]) -> bool:
    try:
        return ready()
    except Unreachable:
        return False


def _succeeded(future: Future[None]) -> bool:
    return future.done() and future.exception() is None


def _raise_cause(errors: list[BaseException]) -> None:
    told = [error for error in errors if not isinstance(error, Cancelled)]
    for error in told or errors:
        raise error
