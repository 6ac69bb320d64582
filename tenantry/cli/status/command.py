"""`tenantry status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tenantry.cli.by_labels import by_labels
from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import finds_file
from tenantry.cli.limits import LimitType
from tenantry.cli.management import Reached, management_options, open_management
from tenantry.cli.options import app_names, cluster_names, output, tenant_names
from tenantry.cli.options import environments as environments_option
from tenantry.cli.options import timeout as timeout_option
from tenantry.cli.output import data_json, say, stdout_console, working
from tenantry.cli.status.rollouts import rollout_notice, show_rollouts
from tenantry.cli.status.several import Shown, read_each, show, verdict
from tenantry.cli.status.table import webhook_table
from tenantry.cli.status.waiting import read, wait_until_ready
from tenantry.cli.status.watch import watch
from tenantry.cluster.apps import Selection, select
from tenantry.cluster.connect import answering
from tenantry.cluster.deep import deep_statuses
from tenantry.cluster.report import (
    StatusReport,
    Webhook,
    apps_report,
    full_report,
    labels_report,
    webhooks_of,
    with_remotes,
)
from tenantry.cluster.report import (
    failing as only_failing,
)
from tenantry.cluster.status import Readiness
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.plan.plan import Plan, plan
from tenantry.preflight.fitness import fitted

if TYPE_CHECKING:
    from tenantry.cluster.client import Client
    from tenantry.cluster.labelled import Labelled


@click.command(
    "status",
    cls=Command,
    epilog="""\
Examples:
  tenantry status dev
  tenantry status --environment prod --failing
  tenantry status prod --app rocky/web --cluster edge-1
  tenantry status --environment prod --watch
  tenantry status --environment dev --wait --timeout 300
  tenantry status --environment prod --output json
  tenantry status --environment prod --output prometheus
  tenantry status dev prod --output html > status.html
  tenantry status --environment prod --deep
  tenantry status --environment prod --receivers
  tenantry status dev prod --tolerate 2%
  tenantry status prod --rollout
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod

Exit codes:
  0    every selected app is ready, and every object is as planned; with
       --tolerate: no more is not than it allows; with
       --receivers: every receiver is ready; with --rollout: nothing waits
  1    at least one is not
  2    a management cluster does not answer, or has no such apps
  130  --watch was ended by Ctrl-C
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
@click.option("-w", "--watch", is_flag=True, help="Keep showing the status until Ctrl-C.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.5),
    default=2,
    show_default=True,
    metavar="SECONDS",
    help="How long --watch pauses between two readings; longer if reading takes long.",
)
@click.option("--wait", is_flag=True, help="Wait until every app is ready, one fails again and again, or the timeout.")
@timeout_option(600, "How long --wait waits.")
@click.option(
    "--tolerate",
    type=LimitType(),
    metavar="N|N%",
    help="How many apps and other objects may be not as planned or not ready, in all environments together.",
)
@click.option("--deep", is_flag=True, help="Ask the remote clusters, too, whether the tenants' namespaces are there.")
@click.option("--receivers", is_flag=True, help="Show the receivers and the paths of their webhooks instead of apps.")
@click.option("--rollout", is_flag=True, help="Show which waves a change has reached, and who waits for what.")
@output("text", "json", "html", "prometheus", kind="Status", wide=True)
@finds_file
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
    watch: bool,
    interval: float,
    wait: bool,
    timeout: int,
    tolerate: int | str | None,
    deep: bool,
    receivers: bool,
    rollout: bool,
    output: str,
) -> int:
    """Show each app of an environment, its status and the revision that Flux applied. What needs attention comes first.

    Every other planned object is looked at, too, and listed if it is missing, changed by hand, not applied yet or not ready:
    baselines, accounts, rights, sources and charts. So are stuck deletions and objects that the file does not declare, with a
    suggested fix.

    Only the management cluster is contacted: Flux reports there about remote clusters too. With --deep, the remote clusters are
    asked as well, with the kubeconfigs that Flux uses, whether each tenant's namespaces are there and whose they are. Nothing is
    changed.

    Several environments are shown one below the other. If one cannot be read, the others are shown all the same. With
    --output html, the result is one web page about all of them, to open in a browser.

    With --tolerate 2%, up to two percent of all objects may be not as planned before the exit code is 1. A share is rounded
    down, as in `tolerate` of a rollout.

    With --rollout, the answer is what a run would change now: in which waves, and what of it waits for whom and until when. The
    page of a whole environment has it too.

    If tenants.yaml is invalid or not there, the labels on the management cluster say which apps there are. Then nothing is known
    of what is missing, changed or undeclared, and --wait, --deep, --receivers, several environments, html and prometheus do not
    work.
    """
    selecting = bool(tenants or apps or clusters or failing)
    _check_usage(watch=watch, wait=wait, deep=deep, receivers=receivers, selecting=selecting, output=output)
    if tolerate is not None and (watch or receivers):
        raise click.UsageError(f"--tolerate cannot be combined with {'--watch' if watch else '--receivers'}")
    if rollout:
        alone = not (watch or wait or deep or receivers or selecting or every or tolerate is not None)
        _check_rollout(alone=alone, output=output)
        return show_rollouts(file, environment, kubeconfig, context, output)
    asked = _Asked(tenants, apps, clusters, timeout if wait else None, deep=deep, page=output == "html")
    if len(environment) > 1:
        _check_several(watch=watch, receivers=receivers, named=kubeconfig or context)
        return _several(file, environment, asked, output, tolerate, failing=failing, every=every)
    (name,) = environment
    try:
        with working(f"planning {file}"):
            fleet = load_fleet(file)
            planned = plan(fleet, name)
    except (InvalidFleet, Refused) as failure:
        if wait or deep or receivers or output in ("html", "prometheus"):
            raise
        named = Selection(frozenset(tenants), frozenset(apps), frozenset(clusters))
        with by_labels(file, name, kubeconfig, context, failure, named) as (client, found):
            selection = select(found.plan, tenants, apps, clusters)
            if watch:
                return _watch(client, found.plan, selection, interval, failing=failing, every=every)
            return _show_labelled(client, found, selection, output, tolerate, failing=failing, every=every)
    selection = asked.selection(planned)
    with open_management(file, planned, kubeconfig, context) as reached:
        if receivers:
            return _show_webhooks(name, webhooks_of(reached.client, reached.planned), output)
        if watch:
            return _watch(reached.client, reached.planned, selection, interval, failing=failing, every=every)
        one = [asked.shown(reached, fleet, selection, failing=failing)]
    show(one, fleet, output, every=every)
    return verdict(one, tolerate) if one[0].whole else 2


def _shown(report: StatusReport, planned: Plan, *, failing: bool, whole: bool = True) -> Shown:
    total = max(report.planned, len(report.apps))
    return Shown(only_failing(report) if failing else report, planned, report.off, total, whole)


def _unread(unreached: Mapping[str, Refused], before: str) -> str:
    """What a report says of management clusters that do not answer."""
    hubs = (f"nothing is known of what {hub} has, because it does not answer" for hub in unreached)
    return "\n".join(filter(None, (*hubs, before)))


class _Asked(NamedTuple):
    """What is asked of each environment. waits: how many seconds until everything is ready; None: it does not.

    page: whether the answer is a page.
    """

    tenants: tuple[str, ...]
    apps: tuple[str, ...]
    clusters: tuple[str, ...]
    waits: int | None
    deep: bool
    page: bool

    def selection(self, planned: Plan) -> Selection:
        return select(planned, self.tenants, self.apps, self.clusters)

    def shown(self, reached: Reached, fleet: Fleet, selection: Selection, *, failing: bool) -> Shown:
        """What is shown of an environment."""
        client, planned, unreached = reached
        report, planned = self._read(client, fleet, planned, selection)
        report = replace(report, unread=_unread(unreached, report.unread))
        shown = _shown(report, planned, failing=failing, whole=not unreached)
        if self.page and shown.whole and selection == Selection():
            return shown._replace(rollouts=rollout_notice(client, fleet, planned))
        return shown

    def _read(self, client: Client, fleet: Fleet, planned: Plan, selection: Selection) -> tuple[StatusReport, Plan]:
        """The report, and the plan as it fits the management cluster."""
        live = None if self.waits is None else wait_until_ready(client, planned, selection, self.waits)
        with working(f"reading the status of {planned.environment}"):
            platform, planned = fleet.document.platform.namespace, fitted(client, planned)
            report = full_report(client, platform, planned, live or read(client, planned), selection)
        if self.deep:
            with working("asking the remote clusters"):
                report = with_remotes(report, deep_statuses(client, fleet, planned), selection)
        return report, planned


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
        with open_management(file, plans[name], None, None) as reached:
            return asked.shown(reached, fleet, selection, failing=failing)

    found, failures = read_each(environments, read_one)
    show(found, fleet, output, failures, every=every, named=True)
    return 2 if failures else verdict(found, tolerate)


def _check_rollout(*, alone: bool, output: str) -> None:
    if not alone or output in ("html", "prometheus"):
        raise click.UsageError(
            "--rollout can be combined with --environment, --kubeconfig, --context and --output json"
        )


def _check_several(*, watch: bool, receivers: bool, named: object) -> None:
    if watch or receivers:
        raise click.UsageError(f"{'--watch' if watch else '--receivers'} takes one environment")
    if named:
        raise click.UsageError(
            "--kubeconfig and --context are for one environment: each has its own management cluster"
        )


def _show_labelled(
    client: Client,
    found: Labelled,
    selection: Selection,
    output: str,
    tolerate: int | str | None,
    *,
    failing: bool,
    every: bool,
) -> int:
    shown = [
        _shown(labels_report(client, found.plan, read(client, found.plan), selection), found.plan, failing=failing)
    ]
    show(shown, None, output, every=every)
    return verdict(shown, tolerate)


def _check_usage(*, watch: bool, wait: bool, deep: bool, receivers: bool, selecting: bool, output: str) -> None:
    if receivers and (watch or wait or deep or selecting):
        others = "--wait, --watch, --deep, --failing, --tenant, --app or --cluster"
        raise click.UsageError(f"--receivers cannot be combined with {others}")
    if receivers and output == "prometheus":
        raise click.UsageError("--receivers cannot be combined with --output prometheus")
    if watch and wait:
        raise click.UsageError("--watch cannot be combined with --wait: choose one of them")
    if watch and deep:
        raise click.UsageError("--watch cannot be combined with --deep")
    if receivers and output == "html":
        raise click.UsageError("--receivers cannot be combined with --output html")
    if watch and output != "text":
        raise click.UsageError(f"--watch cannot be combined with --output {output}")


def _show_webhooks(environment: str, found: tuple[Webhook, ...], output: str) -> int:
    if output == "json":
        from tenantry.cli.documents.states import Receivers

        data_json(Receivers(environment=environment, receivers=found))
    elif found:
        stdout_console().print(webhook_table(found))
    else:
        say("the environment has no receivers")
    return 0 if all(each.readiness is Readiness.READY for each in found) else 1


def _watch(client: Client, planned: Plan, selection: Selection, interval: float, *, failing: bool, every: bool) -> int:
    def reading() -> StatusReport:
        with answering(client):
            report = apps_report(planned, read(client, planned), selection)
        return only_failing(report) if failing else report

    return watch(reading, interval, every=every)
