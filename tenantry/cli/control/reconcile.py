"""What `tenantry reconcile` does: have Flux fetch and reconcile, and wait until it is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tenantry.cli.control.shared import Acting
from tenantry.cli.output import say, working
from tenantry.cli.status.table import short_revision
from tenantry.cluster import requests
from tenantry.cluster.control import (
    Done,
    Outcome,
    Target,
    now_token,
    own_object,
    request,
    request_source,
    wait_until_handled,
)
from tenantry.cluster.report import apps_report
from tenantry.cluster.status import AppStatus, Readiness, one_line
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, listed
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def check(apps: Sequence[PlannedApp], *, force: bool, reset: bool, **_: Any) -> None:
    """Raises: Refused: an option is for Helm releases, and there are none."""
    if (force or reset) and all(app.id.kind != "HelmRelease" for app in apps):
        raise Refused(
            "--force and --reset are for Helm releases, and none of these apps is one", "leave the option out"
        )


def reconciled(
    acting: Acting, *, with_source: bool, force: bool, reset: bool, wait: bool, timeout: int
) -> list[Outcome]:
    """Have Flux reconcile the apps, and wait for what the options say. timeout: in seconds, for each wait."""
    client, planned, found, dry_run = acting
    if with_source:
        _fetch(client, planned, found, timeout, dry_run=dry_run)
    token = now_token()
    outcomes = request(client, found, token, force=force, reset=reset, dry_run=dry_run)
    return _handled(client, planned, outcomes, token, timeout) if wait and not dry_run else outcomes


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
