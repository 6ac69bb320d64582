"""`tenantry status`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.output import data_json, say, stdout_console
from tenantry.cluster.inventory import apps_of, owned_on
from tenantry.cluster.leftovers import leftovers, told
from tenantry.cluster.status import AppStatus, Readiness, statuses
from tenantry.cluster.stuck import stuck
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted
from tenantry.plan.plan import Plan, plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_POLL_SECONDS = 0.5
_COLOURS = {
    Readiness.READY: "green",
    Readiness.PROGRESSING: "yellow",
    Readiness.SUSPENDED: "blue",
    Readiness.FAILED: "red",
    Readiness.MISSING: "red",
}


@click.command(
    "status",
    short_help="show whether every app is ready",
    epilog="""\b
Examples:
  tenantry status --environment dev
  tenantry status --environment dev --wait --timeout 300
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod --output json
""",
)
@environment_option("The environment to look at.", required=True)
@management_options
@click.option("--wait", is_flag=True, help="Go on until every app is ready, or the time is up.")
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="How long --wait waits.",
)
@output("text", "json")
@click.pass_obj
def command(
    file: Path, environment: str, kubeconfig: Path | None, context: str | None, *, wait: bool, timeout: int, output: str
) -> int:
    """Show tenant, cluster and app, and whether Flux has brought each to what was asked for.

    Only the management cluster is asked: Flux reports there about remote clusters too. Nothing is changed. What does not get
    on by itself, and what is there that the file does not plan, is told with what to do.
    Exit code 0: every app is ready; 1: at least one is not.
    """
    planned = plan(load_fleet(file), environment)
    with connect_management(file, environment, kubeconfig, context) as client:
        live = _wait(client, planned, timeout) if wait else _read(client, planned)
        others = _others(client, planned)
    found = statuses(planned, live)
    if output == "json":
        data_json([_as_data(status) for status in found])
    else:
        stdout_console().print(_table(found))
    for message in filter(None, (*stuck(live), others)):
        say(message)
    return 0 if all(status.readiness is Readiness.READY for status in found) else 1


def _read(client: Client, planned: Plan) -> tuple[Manifest, ...]:
    return tuple(apps_of(client, planned.environment))


def _others(client: Client, planned: Plan) -> str:
    """What is there besides the plan; who may not read all kinds is told so, and gets the rest all the same."""
    try:
        return told(planned.environment, leftovers(planned, owned_on(client, planned.environment)))
    except Refused as refused:
        return f"what else is there of environment '{planned.environment}' was not looked at: {refused}"


def _wait(client: Client, planned: Plan, timeout: int) -> tuple[Manifest, ...]:
    """Read until everything is ready; in a terminal the table fills in place, elsewhere each change is a line.

    Returns what was read last.
    """
    end = time.monotonic() + timeout
    with _progress() as show:
        while True:
            live = _read(client, planned)
            found = statuses(planned, live)
            show(found)
            if all(status.readiness is Readiness.READY for status in found):
                return live
            if time.monotonic() > end:
                say(f"not everything is ready after {timeout} s")
                return live
            time.sleep(_POLL_SECONDS)


@contextmanager
def _progress() -> Iterator[Callable[[tuple[AppStatus, ...]], None]]:
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _LineProgress()
        return
    started = time.monotonic()
    with Live(console=console, transient=True, refresh_per_second=4) as live:
        yield lambda found: live.update(
            Group(_table(found), Text(f"{_counts(found)}, {time.monotonic() - started:.0f} s", style="dim"))
        )


class _LineProgress:
    """Says how many are ready whenever that changes."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, found: tuple[AppStatus, ...]) -> None:
        counts = _counts(found)
        if counts != self.last:
            say(counts)
        self.last = counts


def _counts(found: tuple[AppStatus, ...]) -> str:
    ready = sum(status.readiness is Readiness.READY for status in found)
    return f"{ready} of {counted(len(found), 'app')} ready"


def _table(found: tuple[AppStatus, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("TENANT", "CLUSTER", "APP", "KIND", "STATUS", "REVISION"):
        table.add_column(heading, no_wrap=True)
    messages = any(status.readiness is not Readiness.READY for status in found)
    if messages:
        table.add_column("MESSAGE", overflow="fold")
    for status in found:
        table.add_row(*_row(status), *([_message(status)] if messages else []))
    return table


def _row(status: AppStatus) -> tuple[str | Text, ...]:
    return (
        status.app.tenant or "(platform)",
        status.app.cluster,
        status.app.name,
        status.app.id.kind,
        Text(status.readiness, style=_COLOURS[status.readiness]),
        _short(status.revision),
    )


def _message(status: AppStatus) -> Text:
    """Flux's message on one line; none where all is well."""
    return Text("" if status.readiness is Readiness.READY else " ".join(status.message.split()))


def _short(revision: str) -> str:
    """main@sha1:0123456789... -> main@0123456"""
    branch, separator, commit = revision.partition("@sha1:")
    return f"{branch}@{commit[:7]}" if separator else revision


def _as_data(status: AppStatus) -> dict[str, Any]:
    return {
        "tenant": status.app.tenant or None,
        "cluster": status.app.cluster,
        "app": status.app.name,
        "kind": status.app.id.kind,
        "namespace": status.app.id.namespace,
        "name": status.app.id.name,
        "status": status.readiness.value,
        "revision": status.revision,
        "message": status.message,
    }
