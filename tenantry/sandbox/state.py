"""What a sandbox remembers between commands: what it runs, on which ports, as which processes.

Written at every change, so that `down` finds each process even when `up` was killed half-way.
"""

import json
import threading
from dataclasses import asdict, dataclass, field
from typing import Any

from tenantry.sandbox.layout import Layout, SandboxError, write_private
from tenantry.sandbox.process import Process


@dataclass(frozen=True, slots=True)
class Running:
    """A part and its process."""

    owner: str
    part: str
    ports: tuple[int, ...]
    process: Process


@dataclass(slots=True)
class State:
    """The memory of one sandbox; shared by the threads of one command."""

    layout: Layout
    environment: str
    clusters: tuple[str, ...]
    """The management cluster first."""
    ports: dict[str, int] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, key: str, running: Running) -> None:
        with self._lock:
            self.running[key] = running
            self._write()

    def discard(self, key: str) -> None:
        with self._lock:
            self.running.pop(key, None)
            self._write()

    def save(self) -> None:
        with self._lock:
            self._write()

    def _write(self) -> None:
        document = {
            "environment": self.environment,
            "clusters": self.clusters,
            "ports": self.ports,
            "running": {key: asdict(running) for key, running in self.running.items()},
        }
        write_private(self.layout.record, json.dumps(document, indent=1).encode())


def load(layout: Layout) -> State | None:
    """The memory of the sandbox; None before its first `up` got as far as writing one.

    Raises:  SandboxError: the file was changed by something else, so nothing can be said about the processes.
    """
    try:
        document = json.loads(layout.record.read_text())
        running = {key: _running(value) for key, value in document["running"].items()}
        return State(layout, document["environment"], tuple(document["clusters"]), document["ports"], running)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as damage:
        fix = f"end the processes that work below {layout.root} by hand, then remove that directory"
        raise SandboxError(f"{layout.record} cannot be read", fix) from damage


def _running(document: dict[str, Any]) -> Running:
    process = document["process"]
    return Running(
        owner=document["owner"],
        part=document["part"],
        ports=tuple(document["ports"]),
        process=Process(process["pid"], process["created"], tuple(process["argv"])),
    )
