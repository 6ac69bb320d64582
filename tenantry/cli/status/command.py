"""`tenantry status`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.failures import described
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.output import columns, data, data_json, error, say, working
from tenantry.cli.status.table import counts, status_text
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, apps_report, full_report, why_command
from tenantry.cluster.report import failing as only_failing
from tenantry.cluster.selection import Selection, select
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
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
  tenantry status prod --app rocky/web --cluster edge-1
  tenantry status --environment dev --wait --timeout 300
  tenantry status --environment prod --output json
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod

Exit codes:
  0    every selected app is ready, and every object is as planned
  1    at least one is not
  2    a management cluster does not answer, or has no such apps
  5    what is not as planned waits for its wave
""",
)
@options.environment("The environment to show; repeatable.", required=True, argument=True, multiple=True)
@options.tenants(f"Only apps of this tenant, or of '{PLATFORM}'; repeatable.")
@options.apps("Only this app or add-on, such as web or rocky/web; repeatable.")
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
    environment: tuple[str, ...],
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

    Several environments are shown one below the other. If one cannot be read, the others are shown all the same.
    """
    if len(environment) > 1 and (kubeconfig or context):
        raise click.UsageError(
            "--kubeconfig and --context are for one environment: each has its own management cluster"
        )
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        plans = {name: plan(fleet, name) for name in environment}
    reports: list[StatusReport] = []
    refusals: list[tuple[str, Refused]] = []
    for name, planned in plans.items():
        try:
            selection = select(planned, tenants, apps, clusters)
            with connect_management(file, name, kubeconfig, context) as client:
                reports.append(read_report(client, fleet, planned, selection, timeout if wait else None))
        except Refused as refused:
            refusals.append((name, refused))
    if not reports:
        raise refusals[0][1]
    # A selection concerns the environments that have it.
    refusals = [(name, refused) for name, refused in refusals if refused.code != UNKNOWN_NAME]
    shown = [only_failing(report) if failing else report for report in reports]
    if output == "json":
        data_json(status_document(shown, refusals), "Status")
    else:
        print_reports(shown, plans)
    print_messages(shown, named=len(plans) > 1)
    for name, refusal in refusals:
        error(f"environment '{name}' cannot be read: {refusal}")
    codes = {0 if report.ready else 5 if report.waits else 1 for report in reports}
    return 2 if refusals else 1 if 1 in codes else max(codes)


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


def status_document(reports: Sequence[StatusReport], refusals: Iterable[tuple[str, Refused]] = ()) -> dict[str, Any]:
    """The result for programs. `undeclared` of an environment is None if this user may not look for such objects."""
    return {
        "environments": reports,
        "apps": [app for report in reports for app in report.apps],
        "objects": [state for report in reports for state in report.objects],
        "unread": [{"environment": name, "error": described(refused)} for name, refused in refusals],
    }


def print_reports(reports: Sequence[StatusReport], plans: Mapping[str, Plan]) -> None:
    """Print reports as text, with a heading for each if there are several plans."""
    for number, report in enumerate(reports):
        if len(plans) > 1:
            data(f"{chr(10) if number else ''}{click.style(report.environment, bold=True)}")
        if text := status_text(report, plans[report.environment].rollout, columns(sys.stdout)):
            data(text)


def print_messages(reports: Sequence[StatusReport], *, named: bool = False) -> None:
    """Print what a person has to know or do besides, on stderr. named: whether to say of which environment."""
    for report in reports:
        if report.left_out:
            say(f"{report.environment}: {report.left_out}" if named else report.left_out)
        for message in report.messages():
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
