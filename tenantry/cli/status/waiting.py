"""Waits until apps are ready, and shows meanwhile how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tenantry.cli.output import say
from tenantry.cli.progress import shows_progress
from tenantry.cli.status.table import counts, shown
from tenantry.cluster.apps import Selection, why_command
from tenantry.cluster.failures import Failures
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, apps_report
from tenantry.cluster.standing import needs_of
from tenantry.cluster.status import one_line
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.text import counted
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_POLL_SECONDS = 0.5
_REST = 3
"""For each second that a reading took, the API server rests for so many."""
_MOST = 5
"""Apps that a message names one by one."""


def read(client: Client, planned: Plan) -> tuple[Manifest, ...]:
    """The environment's Kustomizations and HelmReleases, and their sources and charts."""
    return tuple(flux_objects_of(client, planned))


def wait_until_ready(client: Client, planned: Plan, selection: Selection, timeout: int) -> tuple[Manifest, ...]:
    """Wait until everything is ready, or an app fails again and again.

    On a terminal the table updates in place, otherwise each change is a line.

    Returns: what was read last.
    """
    end, needs, failures = time.monotonic() + timeout, needs_of(planned), Failures(time.monotonic)
    with _progress() as show:
        while True:
            started = time.monotonic()
            live = read(client, planned)
            report = apps_report(planned, live, selection)
            show(report)
            if report.ready:
                return live
            failures.look(needs.items(), {id: each for each in live if (id := readable_id(each))})
            if failures.lasting and (message := told(report, failures.lasting)):
                say(message)
                return live
            now = time.monotonic()
            if now > end:
                say(f"not everything is ready after {timeout} s")
                return live
            time.sleep(max(_POLL_SECONDS, _REST * (now - started)))


def told(report: StatusReport, lasting: Collection[ObjectId]) -> str:
    """What has failed for good, why, and what to do; "" if nothing of the report has. lasting: objects whose failure lasts."""
    apps = [app for app in report.apps if app.cause in lasting]
    lines = [f"  {each.app.cluster} {each.app.full_name}: {one_line(each.message)}" for each in apps]
    causes = {each.cause for each in apps}
    others = [each for each in report.objects if each.id in lasting and each.id not in causes]
    lines += [f"  {other.full_name}: {one_line(other.message)}" for other in others]
    if not lines:
        return ""
    found = [
        *([counted(len(apps), "app")] if apps else []),
        *([counted(len(others), "other object")] if others else []),
    ]
    more = len(lines) - _MOST
    again = f"then run `tenantry up --environment {report.environment}` again"
    step = f"; `{why_command(apps[0].app, report.environment)}` tells the cause" if apps else ""
    return "\n".join(
        (
            f"{' and '.join(found)} failed again and again, so waiting ends here:",
            *lines[:_MOST],
            *([f"  and {more} more"] if more > 0 else []),
            f"  fix: correct the file or what the app applies, {again}{step}",
        )
    )


def _counts(report: StatusReport) -> str:
    """3 of 5 apps ready; 5 of 5 apps ready, 2 other objects not yet"""
    others = f", {counted(len(report.objects), 'other object')} not yet" if report.objects else ""
    return f"{counts(report.apps)}{others}"


@contextmanager
def _progress() -> Iterator[Callable[[StatusReport], None]]:
    if not shows_progress():
        yield _LineProgress()
        return
    console, started = Console(stderr=True, highlight=False), time.monotonic()
    with Live(console=console, transient=True, refresh_per_second=4) as live:

        def show(report: StatusReport) -> None:
            seconds = f"{time.monotonic() - started:.0f} s"
            live.update(Group(shown(report, console), Text(f"{_counts(report)}, {seconds}", style="dim")))

        yield show


class _LineProgress:
    """Prints how many apps are ready, each time the number changes."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, report: StatusReport) -> None:
        if (found := _counts(report)) != self.last:
            say(found)
        self.last = found
