"""`tenantry status`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.failures import described
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.output import columns, data, data_json, error, say, working
from tenantry.cli.status.table import status_text
from tenantry.cli.status.waiting import wait_until_ready
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, full_report
from tenantry.cluster.report import failing as only_failing
from tenantry.cluster.selection import Selection, select
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.plan.plan import Plan, plan
from tenantry.preflight.fitness import fitted

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


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
    refusals = [each for each in refusals if each[1].code != UNKNOWN_NAME]
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
    live = None if seconds is None else wait_until_ready(client, planned, selection, seconds)
    with working(f"reading the status of {planned.environment}"):
        planned = fitted(client, planned)
        live = live or tuple(flux_objects_of(client, planned))
        return full_report(client, fleet.document.platform.namespace, planned, live, selection)


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
