"""`tenantry reconcile`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.control.shared import EXIT_CODES, KIND, apps_of_tenant, dry_run_option, report
from tenantry.cli.control.switch import not_found
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import output, tenant_apps
from tenantry.cli.options import timeout as timeout_option
from tenantry.cli.output import say, working
from tenantry.cli.status.rows import short_revision
from tenantry.cluster import requests
from tenantry.cluster.control import Done, Outcome, now_token, request, request_source
from tenantry.cluster.report import apps_report
from tenantry.cluster.status import AppStatus, Readiness, one_line
from tenantry.cluster.targets import Target, own_object, targets
from tenantry.cluster.wait import wait_until_handled
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, listed
from tenantry.plan.chain import Chains
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@click.command(
    "reconcile",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry reconcile rocky --environment dev
  tenantry reconcile rocky web --environment dev --with-source --wait
  tenantry reconcile rocky web --environment prod --cluster edge-1 --force
  tenantry reconcile platform cert-controller --environment prod

{EXIT_CODES}""",
)
@tenant_apps
@click.option("--with-source", is_flag=True, help="Have Flux fetch the sources and charts first, and wait for that.")
@click.option("--force", is_flag=True, help="Install or upgrade Helm releases even if nothing changed.")
@click.option("--reset", is_flag=True, help="Reset the failure counts of Helm releases, so that Flux tries again.")
@click.option("--wait", is_flag=True, help="Wait until Flux is done, and report apps that are not ready then.")
@timeout_option(300, "How long --with-source and --wait each wait.")
@dry_run_option
@management_options
@output("text", "json", kind=KIND)
@reads_file
def command(
    file: Path,
    tenant: str,
    app: str | None,
    environment: str,
    clusters: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    *,
    with_source: bool,
    force: bool,
    reset: bool,
    wait: bool,
    timeout: int,
    dry_run: bool,
) -> int:
    """Have Flux reconcile the apps of a tenant now, instead of at their next interval.

    It sets the same annotations as `flux reconcile`, on the Kustomizations and HelmReleases of this environment alone.
    """
    planned, apps = apps_of_tenant(file, environment, tenant, app, clusters)
    if (force or reset) and all(each.id.kind != "HelmRelease" for each in apps):
        raise Refused(
            "--force and --reset are for Helm releases, and none of these apps is one", "leave the option out"
        )
    with connect_management(file, environment, kubeconfig, context) as client:
        found, refused = targets(client, planned, apps)
        if with_source:
            _fetch(client, planned, found, timeout, dry_run=dry_run)
        token = now_token()
        outcomes = request(client, found, token, force=force, reset=reset, dry_run=dry_run)
        if wait and not dry_run:
            outcomes = _handled(client, planned, outcomes, token, timeout)
    return report("reconcile", [*outcomes, *not_found(apps, found, refused)], output, dry_run=dry_run)


def _fetch(client: Client, planned: Plan, found: Sequence[Target], timeout: int, *, dry_run: bool) -> None:
    """Have Flux fetch the sources, then the charts that are made from them.

    Raises: Refused: it is not allowed, or Flux did not fetch all of them in time.
    """
    chains = [Chains(planned).of(each.app.id)[:-1] for each in found]
    for step in range(max(map(len, chains), default=0)):
        live = list(_live(client, [chain[step] for chain in chains if step < len(chain)]))
        _fetch_all(client, live, timeout, dry_run=dry_run)


def _fetch_all(client: Client, live: Sequence[Manifest], timeout: int, *, dry_run: bool) -> None:
    token, ids = now_token(), [object_id(each) for each in live]
    requests.in_parallel(lambda each: request_source(client, each, token, dry_run=dry_run), live)
    if dry_run:
        return
    with working(f"waiting for {counted(len(ids), 'source')}"):
        done = wait_until_handled(partial(_read, client, ids), ids, token, timeout)
    if late := [id for id in ids if id not in done]:
        raise Refused(
            f"Flux did not fetch {listed(late)} within {timeout} s",
            "look at Flux's message with `tenantry tree`, or allow more time with --timeout",
        )


def _read(client: Client, ids: Sequence[ObjectId]) -> list[Manifest]:
    return [each for each in requests.in_parallel(partial(requests.one, client), ids) if each is not None]


def _live(client: Client, planned: Sequence[Manifest]) -> Iterator[Manifest]:
    """The live objects of planned sources and charts. Those that are suspended or missing are named and left out."""
    for manifest in {object_id(each): each for each in planned}.values():
        live = own_object(client, manifest)
        if live is None:
            say(f"{object_id(manifest)} is not on the management cluster: run `tenantry up`")
        elif mapping_at(live, "spec").get("suspend"):
            say(f"{object_id(manifest)} is suspended and is not fetched")
        else:
            yield live


def _handled(client: Client, planned: Plan, outcomes: Sequence[Outcome], token: str, timeout: int) -> list[Outcome]:
    """The outcomes once Flux is done: with its message for each app that is not ready then."""
    wanted = [each.app.id for each in outcomes if each.done is Done.REQUESTED]
    with working(f"waiting for {counted(len(wanted), 'app')}"):
        done = wait_until_handled(partial(_read, client, wanted), wanted, token, timeout)
    states = {each.app.id: each for each in apps_report(planned, done.values()).apps}
    return [_after(each, states[each.app.id], timeout, done=each.app.id in done) for each in outcomes]


def _after(outcome: Outcome, status: AppStatus, timeout: int, *, done: bool) -> Outcome:
    if outcome.done is not Done.REQUESTED:
        return outcome
    if not done:
        return Outcome(outcome.app, Done.NOT_READY, f"Flux was not done within {timeout} s")
    if status.readiness is Readiness.READY:
        return Outcome(outcome.app, Done.READY, short_revision(status.revision))
    return Outcome(outcome.app, Done.NOT_READY, one_line(status.message))
