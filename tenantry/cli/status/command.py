"""`tenantry status`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.limits import LimitType
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import app_names, cluster_names, output, tenant_names
from tenantry.cli.options import environments as environments_option
from tenantry.cli.options import timeout as timeout_option
from tenantry.cli.output import working
from tenantry.cli.status.rollouts import show_rollouts
from tenantry.cli.status.several import Shown, read_each, show, verdict
from tenantry.cli.status.waiting import read, wait_until_ready
from tenantry.cluster.apps import Selection, select
from tenantry.cluster.report import StatusReport, full_report
from tenantry.cluster.report import failing as only_failing
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
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
  tenantry status dev prod --tolerate 2%
  tenantry status prod --rollout
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod

Exit codes:
  0    every selected app is ready, and every object is as planned; with
       --tolerate: no more is not than it allows; with --rollout: nothing
       waits
  1    at least one is not
  2    a management cluster does not answer, or has no such apps
""",
)
@environments_option("The environment to show; repeatable.", required=True, argument=True)
@tenant_names(f"Only apps of this tenant, or of '{PLATFORM}'; repeatable.")
@app_names("Only this app or add-on, such as web or rocky/web; repeatable.")
@cluster_names("Only apps on this cluster, or on those with labels such as tier=edge; repeatable.")
@click.option(
    "--failing",
    is_flag=True,
    help="Show only what is failed, missing, changed by hand, unreachable, or progresses for more than 5 minutes.",
)
@click.option("--all", "every", is_flag=True, help="List every app on every cluster, also where many are alike.")
@management_options
@click.option("--wait", is_flag=True, help="Wait until every app is ready, one fails again and again, or the timeout.")
@timeout_option(600, "How long --wait waits.")
@click.option(
    "--tolerate",
    type=LimitType(),
    metavar="N|N%",
    help="How many apps and other objects may be not as planned or not ready, in all environments together.",
)
@click.option("--rollout", is_flag=True, help="Show which waves a change has reached, and who waits for what.")
@output("text", "json", kind="Status")
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
    every: bool,
    wait: bool,
    timeout: int,
    tolerate: int | str | None,
    rollout: bool,
    output: str,
) -> int:
    """Show each app of an environment, its status and the revision that Flux applied. What needs attention comes first.

    Every other planned object is looked at, too, and listed if it is missing, changed by hand, not applied yet or not ready:
    baselines, accounts, rights, sources and charts. So are stuck deletions and objects that the file does not declare, with a
    suggested fix.

    Only the management cluster is contacted: Flux reports there about remote clusters too. Nothing is changed.

    Several environments are shown one below the other. If one cannot be read, the others are shown all the same.

    With --tolerate 2%, up to two percent of all objects may be not as planned before the exit code is 1. A share is rounded
    down, as in `tolerate` of a rollout.

    With --rollout, the answer is what a run would change now: in which waves, and what of it waits, for what and until when.
    """
    if rollout:
        if tenants or apps or clusters or failing or wait or every or tolerate is not None:
            raise click.UsageError(
                "--rollout can be combined with --environment, --kubeconfig, --context and --output json"
            )
        return show_rollouts(file, environment, kubeconfig, context, output)
    asked = _Asked(tenants, apps, clusters, timeout if wait else None)
    if len(environment) > 1:
        if kubeconfig or context:
            raise click.UsageError(
                "--kubeconfig and --context are for one environment: each has its own management cluster"
            )
        return _several(file, environment, asked, output, tolerate, failing=failing, every=every)
    (name,) = environment
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan(fleet, name)
    selection = asked.selection(planned)
    with connect_management(file, name, kubeconfig, context) as client:
        one = [asked.shown(client, fleet, planned, selection, failing=failing)]
    show(one, output, every=every)
    return verdict(one, tolerate)


class _Asked(NamedTuple):
    """What is asked of each environment. waits: how many seconds until everything is ready; None: it does not."""

    tenants: tuple[str, ...]
    apps: tuple[str, ...]
    clusters: tuple[str, ...]
    waits: int | None

    def selection(self, planned: Plan) -> Selection:
        return select(planned, self.tenants, self.apps, self.clusters)

    def shown(self, client: Client, fleet: Fleet, planned: Plan, selection: Selection, *, failing: bool) -> Shown:
        """What is shown of an environment."""
        report = self._read(client, fleet, planned, selection)
        total = max(report.planned, len(report.apps))
        return Shown(only_failing(report) if failing else report, report.off, total)

    def _read(self, client: Client, fleet: Fleet, planned: Plan, selection: Selection) -> StatusReport:
        live = None if self.waits is None else wait_until_ready(client, planned, selection, self.waits)
        with working(f"reading the status of {planned.environment}"):
            platform, planned = fleet.document.platform.namespace, fitted(client, planned)
            return full_report(client, platform, planned, live or read(client, planned), selection)


def _several(
    file: Path,
    environments: Sequence[str],
    asked: _Asked,
    output: str,
    tolerate: int | str | None,
    *,
    failing: bool,
    every: bool,
) -> int:
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        plans = {name: plan(fleet, name) for name in environments}

    def read_one(name: str) -> Shown:
        selection = asked.selection(plans[name])
        with connect_management(file, name, None, None) as client:
            return asked.shown(client, fleet, plans[name], selection, failing=failing)

    found, failures = read_each(environments, read_one)
    show(found, output, failures, every=every, named=True)
    return 2 if failures else verdict(found, tolerate)
