"""`tenantry logs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.duration import seconds
from tenantry.cli.named_apps import Named, names_apps
from tenantry.cli.output import data, data_json, say, working
from tenantry.cli.status.watch import INTERRUPTED
from tenantry.cluster.logs import LogLine, Reading, follow, lines_about, of_file, pods_of_flux
from tenantry.cluster.standing import parts_of
from tenantry.flux.lockdown import LOCKDOWN
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@click.command(
    "logs",
    cls=Command,
    epilog="""\
Examples:
  tenantry logs rocky/web -e dev
  tenantry logs rocky/web -e prod -c edge-1 --since 10m
  tenantry logs rocky -e prod --follow
  tenantry logs platform/cert-controller -e prod --tail 20

Exit codes:
  0    success
  2    there is no such app, or no log of Flux's controllers can be read
  130  --follow was ended by Ctrl-C
""",
)
@names_apps(
    "Logs",
    # `-f` names the file of every command.
    click.option("--follow", "following", is_flag=True, help="Go on with what is logged from now on, until Ctrl-C."),
    click.option(
        "--since",
        metavar="DURATION",
        default="1h",
        show_default=True,
        callback=seconds,
        help="Only lines as new as this.",
    ),
    click.option("--tail", type=click.IntRange(min=1), metavar="LINES", help="Only the last so many lines."),
)
def command(named: Named, output: str, *, following: bool, since: float, tail: int | None) -> int:
    """Show what Flux's controllers log about apps: about their sources, charts, baselines and themselves.

    The lines come from the controllers' pods on the management cluster, and in a sandbox from the files of its controllers.
    For the logs of what an app runs, use `kubectl logs` on the app's cluster.
    """
    if following and output == "json":
        raise click.UsageError("--follow cannot be combined with --output json")
    ids, begin = parts_of(named.planned, named.apps), datetime.now(UTC) - timedelta(seconds=since)
    with named.connect() as client:
        hubs = list(client.each())
        if following and len(hubs) > 1:
            raise click.UsageError("--follow takes apps of one management cluster: name a cluster with --cluster")
        with working("reading the logs of Flux's controllers"):
            by_hub = {each.hub: pods_of_flux(each, max(1, int(since))) or _of_sandbox(each) for each in hubs}
            readings = [*chain.from_iterable(by_hub.values())]
            if not readings:
                raise Refused(
                    "found no pods of Flux's controllers on the management cluster",
                    f"if they run elsewhere, look in their logs there for {listed(ids)}",
                )
            found = _lines(by_hub, ids, begin, tail) if not following or tail else []
        if output == "json":
            from tenantry.cli.documents.lists import Logs

            data_json(Logs(environment=named.environment, items=found))
            return 0
        for line in found:
            _print(line)
        if following:
            try:
                for line in follow(readings, ids, datetime.now(UTC) if tail else begin):
                    _print(line)
            except KeyboardInterrupt:
                return INTERRUPTED
    if not found and not following:
        say("no lines about these apps: see further back with --since 24h")
    return 0


def _lines(
    by_hub: Mapping[str, list[Reading]], ids: Sequence[ObjectId], begin: datetime, most: int | None
) -> list[LogLine]:
    """The lines from each management cluster about the objects that it has, in the order of their times."""
    found = [
        line
        for hub, readings in by_hub.items()
        for line in lines_about(readings, [id for id in ids if id.hub == hub], begin, most)
    ]
    return sorted(found, key=lambda line: line.time)[-(most or len(found)) :]


def _print(line: LogLine) -> None:
    data(f"{line.time} {line.level:5} {line.id}: {line.message}")


def _of_sandbox(client: Client) -> list[Reading]:
    """The logs of the controllers of a cluster of the sandbox; empty if it is none."""
    # Most management clusters are no sandboxes.
    from tenantry.cli.sandbox import logs_of

    kubeconfig = client.config.fname
    return [of_file(file) for file in logs_of(Path(kubeconfig), LOCKDOWN)] if kubeconfig else []
