"""Waits until apps are ready, and shows meanwhile how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tenantry.cli.output import say
from tenantry.cli.progress import shows_progress
from tenantry.cluster.inventory import apps_of
from tenantry.cluster.report import StatusReport, apps_report
from tenantry.cluster.selection import Selection
from tenantry.kube.objects import Manifest
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_POLL_SECONDS = 0.5
_REST = 3
"""For each second that a reading took, the API server rests for so many."""


def read(client: Client, planned: Plan) -> tuple[Manifest, ...]:
    """The environment's Kustomizations and HelmReleases."""
    return tuple(apps_of(client, planned.environment))


def wait_until_ready(client: Client, planned: Plan, selection: Selection, timeout: int) -> tuple[Manifest, ...]:
    """Wait until everything is ready. On a terminal the table updates in place, otherwise each change is a line.

    Returns: what was read last.
    """
    end = time.monotonic() + timeout
    with _progress() as show:
        while True:
            started = time.monotonic()
            live = read(client, planned)
            report = apps_report(planned, live, selection)
            show(report)
            if report.ready:
                return live
            now = time.monotonic()
            if now > end:
                say(f"not everything is ready after {timeout} s")
                return live
            time.sleep(max(_POLL_SECONDS, _REST * (now - started)))


@contextmanager
def _progress() -> Iterator[Callable[[StatusReport], None]]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    from tenantry.cli.status.show import counts, shown

    if not shows_progress():
        yield _LineProgress()
        return
    console, started = Console(stderr=True, highlight=False), time.monotonic()
    with Live(console=console, transient=True, refresh_per_second=4) as live:

        def show(report: StatusReport) -> None:
            seconds = f"{time.monotonic() - started:.0f} s"
            live.update(Group(shown(report, console), Text(f"{counts(report.apps)}, {seconds}", style="dim")))

        yield show


class _LineProgress:
    """Prints how many apps are ready, each time the number changes."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, report: StatusReport) -> None:
        from tenantry.cli.status.show import counts

        if (found := counts(report.apps)) != self.last:
            say(found)
        self.last = found
