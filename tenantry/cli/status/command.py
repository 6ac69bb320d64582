"""`tenantry status`."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.output import columns, data, data_json, say, working
from tenantry.cli.status.table import counts, status_text
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, apps_report, full_report, why_command
from tenantry.cluster.report import failing as only_failing
from tenantry.cluster.selection import Selection, select
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet
from tenantry.messages.text import counted, one_line
from tenantry.plan.plan import Plan, plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_POLL_SECONDS = 0.5
_REST = 3
"""For each second that a reading took, the API server rests for so many."""
_MOST = 5
"""Apps that a message names one by one."""


@click.command(
    "status",
    cls=Command,
    epilog="""\
Examples:
  tenantry status dev
  tenantry status --environment prod --failing
  tenantry status prod --tenant rocky --app web --cluster edge-1
  tenantry status --environment dev --wait --timeout 300
  tenantry status --environment prod --output json
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod

Exit codes:
  0    every selected app is ready, and every object is as planned
  1    at least one is not
  2    the management cluster does not answer, or has no such apps
  5    what is not as planned waits for its wave
""",
)
@options.environment("The environment to show.", required=True, argument=True)
@options.tenants(f"Only apps of this tenant, or of '{PLATFORM}'; repeatable.")
@options.apps("Only this app or add-on; repeatable.")
@options.clusters("Only apps on this cluster; repeatable.")
@click.option(
    "--failing",
    is_flag=True,
    help="Show only what is failed, missing, changed by hand, unreachable, or progresses for more than 5 minutes.",
)
@management_options
@click.option("--wait", is_flag=True, help="Wait until every app is ready, one fails again and again, or the timeout.")
@options.timeout(600, "How long --wait waits.")
@options.output("text", "json", kind="Status")
@reads_file
def command(
    file: Path,
    environment: str,
    kubeconfig: Path | None,
    context: str | None,
    *,
    tenants: tuple[str, ...],
    apps: tuple[str, ...],
    clusters: tuple[str, ...],
    failing: bool,
    wait: bool,
    timeout: int,
    output: str,
) -> int:
    """Show each app of an environment, its status and the revision that Flux applied. What needs attention comes first.

    Every other planned object is looked at, too, and listed if it is missing, changed by hand, not applied yet or not ready:
    baselines, accounts, rights, sources and charts. So are stuck deletions and objects that the file does not declare, with a
    suggested fix. Waves say how their apps are, what a run would change in them, and what of it waits.

    Only the management cluster is contacted: Flux reports there about remote clusters too. Nothing is changed.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan(fleet, environment)
    selection = select(planned, tenants, apps, clusters)
    with connect_management(file, environment, kubeconfig, context) as client:
        report = read_report(client, fleet, planned, selection, timeout if wait else None)
    print_status(only_failing(report) if failing else report, planned, output)
    return 0 if report.ready else 5 if report.waits else 1


def read_report(
    client: Client, fleet: Fleet, planned: Plan, selection: Selection, seconds: int | None = None
) -> StatusReport:
    """The report of an environment. seconds: for how long to wait until everything is ready; None: not at all.

    Raises: Refused: reading is not allowed.
    """
    live = None if seconds is None else _wait_until_ready(client, planned, selection, seconds)
    with working(f"reading the status of {planned.environment}"):
        live = live or tuple(flux_objects_of(client, planned))
        return full_report(client, fleet, planned, live, selection)


def print_status(report: StatusReport, planned: Plan, output: str = "text") -> None:
    """Print a report, and on stderr what a person has to know or do besides."""
    if output == "json":
        data_json(report, "Status")
    elif text := status_text(report, planned.rollout, columns(sys.stdout)):
        data(text)
    for message in filter(None, (report.left_out, *report.messages())):
        say(message)


# --- waiting -----------------------------------------------------------------------------------------------------------


def _wait_until_ready(client: Client, planned: Plan, selection: Selection, timeout: int) -> tuple[Manifest, ...]:
    """Wait until everything is ready, or an app fails for good. Prints a line for each change. Returns: what was read last."""
    end, begun, last = time.monotonic() + timeout, datetime.now(UTC), ""
    with working("waiting until everything is ready"):
        while True:
            started = time.monotonic()
            live = tuple(flux_objects_of(client, planned))
            report = apps_report(planned, live, selection, begun)
            others = f", {counted(len(report.objects), 'other object')} not yet" if report.objects else ""
            if (line := f"{counts(report.apps)}{others}") != last:
                say(line)
            last = line
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
    failed = [*apps, *(state for state in report.objects if state.lasts and state.id not in causes)]
    if not failed:
        return ""
    lines = [f"  {state.where}: {one_line(state.message)}" for state in failed[:_MOST]]
    lines += [f"  and {len(failed) - _MOST} more"] if len(failed) > _MOST else []
    first = next((app for state in apps if (app := state.stands_for)), None)
    cause = f"; `{why_command(first, report.environment)}` tells the cause" if first else ""
    return "\n".join(
        (
            f"{counted(len(failed), 'object')} failed again and again, so waiting ends here:",
            *lines,
            "  fix: correct the file or what the app applies, then run"
            f" `tenantry up --environment {report.environment}` again{cause}",
        )
    )
