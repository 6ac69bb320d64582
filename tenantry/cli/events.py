"""`tenantry events`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.named_apps import Named, names_apps
from tenantry.cli.output import data, data_json, say, working
from tenantry.cli.status.watch import INTERRUPTED
from tenantry.cluster.events import Event, events_of, news
from tenantry.cluster.standing import parts_of
from tenantry.cluster.status import age
from tenantry.kube.objects import ObjectId

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_PAUSE = 2.0


@click.command(
    "events",
    cls=Command,
    epilog="""\
Examples:
  tenantry events rocky/web -e dev
  tenantry events rocky -e prod -c edge-1
  tenantry events rocky/web -e prod --watch
  tenantry events platform/cert-controller -e prod --output json

Exit codes:
  0    success
  2    there is no such app, or the management cluster does not answer
  130  --watch was ended by Ctrl-C
""",
)
@names_apps(
    "Events", click.option("-w", "--watch", is_flag=True, help="Go on with what happens from now on, until Ctrl-C.")
)
def command(named: Named, output: str, *, watch: bool) -> int:
    """Show what Kubernetes' events say about the Flux objects of apps, the oldest first.

    These are the apps' sources, charts, baselines, Kustomizations and HelmReleases on the management cluster. An API server
    keeps events for an hour, unless it is set up otherwise. Equal events are one line with their number.
    """
    if watch and output == "json":
        raise click.UsageError("--watch cannot be combined with --output json")
    ids = parts_of(named.planned, named.apps)
    with named.connect() as client:
        with working("reading events"):
            found = events_of(client, ids)
        if output == "json":
            from tenantry.cli.documents.lists import Events

            data_json(Events(environment=named.environment, items=found))
            return 0
        _print(found)
        if watch:
            return _watch(client, ids, found)
    if not found:
        say("no events: an API server keeps them for an hour")
    return 0


def _watch(client: Client, ids: Sequence[ObjectId], found: list[Event]) -> int:
    try:
        while True:
            time.sleep(_PAUSE)
            before, found = found, events_of(client, ids)
            _print(news(before, found))
    except KeyboardInterrupt:
        return INTERRUPTED


def _print(found: Iterable[Event]) -> None:
    now = datetime.now(UTC)
    rows = [(_ages(event, now), event.type, event) for event in found]
    width = max((len(ages) for ages, *_ in rows), default=0)
    for ages, kind, event in rows:
        data(f"{ages:{width}}  {kind:7}  {event.reason}  {event.id}: {event.message}")


def _ages(event: Event, now: datetime) -> str:
    """2m, or 2m (x5 over 10m)"""
    last = age(event.last, now) or "?"
    return last if event.count == 1 else f"{last} (x{event.count} over {age(event.first, now) or '?'})"
