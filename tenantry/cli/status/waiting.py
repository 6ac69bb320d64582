"""Waits until apps are ready, and shows meanwhile how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenantry.cli.output import say
from tenantry.cli.progress import shows_progress, terminal_columns
from tenantry.cli.status.table import counts, status_text
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, apps_report, why_command
from tenantry.cluster.selection import Selection
from tenantry.kube.objects import Manifest
from tenantry.messages.text import counted, one_line
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_POLL_SECONDS = 0.5
_REST = 3
"""For each second that a reading took, the API server rests for so many."""
_MOST = 5
"""Apps that a message names one by one."""


def wait_until_ready(client: Client, planned: Plan, selection: Selection, timeout: int) -> tuple[Manifest, ...]:
    """Wait until everything is ready, or an app fails for good.

    On a terminal the table updates in place, otherwise each change is a line.

    Returns: what was read last.
    """
    end, begun = time.monotonic() + timeout, datetime.now(UTC)
    with _progress(planned) as show:
        while True:
            started = time.monotonic()
            live = tuple(flux_objects_of(client, planned))
            report = apps_report(planned, live, selection, begun)
            show(report)
            if report.ready:
                return live
            if message := lasting_text(report):
                say(message)
                return live
            now = time.monotonic()
            if now > end:
                say(f"not everything is ready after {timeout} s")
                return live
            time.sleep(max(_POLL_SECONDS, _REST * (now - started)))


def lasting_text(report: StatusReport) -> str:
    """What has failed for good, why, and what to do; "" if nothing has."""
    apps = [state for state in report.apps if state.lasts]
    causes = {state.cause for state in apps}
    others = [state for state in report.objects if state.lasts and state.id not in causes]
    lines = [f"  {state.where}: {one_line(state.message)}" for state in (*apps, *others)]
    if not lines:
        return ""
    failed = [
        *([counted(len(apps), "app")] if apps else []),
        *([counted(len(others), "other object")] if others else []),
    ]
    more = [f"  and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    first = apps[0].stands_for if apps else None
    cause = f"; `{why_command(first, report.environment)}` tells the cause" if first else ""
    fix = f"correct the file or what the app applies, then run `tenantry up --environment {report.environment}` again"
    head = f"{' and '.join(failed)} failed again and again, so waiting ends here:"
    return "\n".join((head, *lines[:_MOST], *more, f"  fix: {fix}{cause}"))


def _counts(report: StatusReport) -> str:
    """3 of 5 apps ready; 5 of 5 apps ready, 2 other objects not yet"""
    others = f", {counted(len(report.objects), 'other object')} not yet" if report.objects else ""
    return f"{counts(report.apps)}{others}"


@contextmanager
def _progress(planned: Plan) -> Iterator[Callable[[StatusReport], None]]:
    last, started = "", time.monotonic()

    def print_line(report: StatusReport) -> None:
        """Print how many apps are ready, each time the number changes."""
        nonlocal last
        if (line := _counts(report)) != last:
            say(line)
        last = line

    if not shows_progress():
        yield print_line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True, highlight=False), transient=True, refresh_per_second=4) as live:

        def show(report: StatusReport) -> None:
            text = status_text(report, planned.rollout, terminal_columns())
            live.update(Text.from_ansi(f"{text}\n{_counts(report)}, {time.monotonic() - started:.0f} s"))

        yield show
