"""Waits until apps are ready, and shows meanwhile how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tenantry.cli.output import say
from tenantry.cli.progress import shows_progress
from tenantry.cluster.apps import in_command
from tenantry.cluster.failures import Failures
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, apps_report
from tenantry.cluster.selection import Selection
from tenantry.cluster.standing import needs_of
from tenantry.cluster.status import AppStatus, one_line
from tenantry.kube.objects import Manifest, readable_id
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
            if failed := [each for each in report.apps if each.cause in failures.lasting]:
                say(told(planned.environment, failed))
                return live
            now = time.monotonic()
            if now > end:
                say(f"not everything is ready after {timeout} s")
                return live
            time.sleep(max(_POLL_SECONDS, _REST * (now - started)))


def told(environment: str, failed: Sequence[AppStatus]) -> str:
    """Which apps have failed for good, why, and what to do."""
    first = failed[0].app
    lines = [f"{counted(len(failed), 'app')} failed again and again, so waiting ends here:"]
    lines += [f"  {each.app.cluster} {each.app.full_name}: {one_line(each.message)}" for each in failed[:_MOST]]
    if (more := len(failed) - _MOST) > 0:
        lines.append(f"  and {counted(more, 'more app')}")
    lines.append(
        f"  fix: correct the file or what the app applies, then run `tenantry up --environment {environment}` again;"
        f" `tenantry tree {in_command(first)} --environment {environment} --cluster {first.cluster}` shows each step"
    )
    return "\n".join(lines)


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
