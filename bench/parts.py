"""The programs of a running sandbox, and what they used of the processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from tenantry_sandbox.layout import Layout
from tenantry_sandbox.supervisor import load


def processes(sandbox: Path, parts: Iterable[str]) -> Iterator[tuple[str, psutil.Process]]:
    """The processes of these parts, on all clusters. The shards of a controller count as the controller."""
    state = load(Layout(sandbox.resolve()))
    assert state
    names = tuple(parts)
    for each in state.running.values():
        if part := next((name for name in names if each.part.startswith(name)), None):
            yield part, psutil.Process(each.process.pid)


def processor(sandbox: Path, parts: Iterable[str]) -> dict[str, float]:
    """Seconds of the processor that each part has used so far."""
    used = dict.fromkeys(parts, 0.0)
    for part, process in processes(sandbox, used):
        used[part] += sum(process.cpu_times()[:2])
    return used
