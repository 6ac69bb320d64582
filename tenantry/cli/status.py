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
from rich.text import Text

from tenantry.cli.commands import Command
from tenantry.cli.diff.data import id_as_data
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.output import data_json, document, say, stdout_console, working
from tenantry.cli.status_table import status_table, webhook_table
from tenantry.cluster.inventory import apps_of, namespaces_of, owned_on
from tenantry.cluster.leftovers import leftovers, told
from tenantry.cluster.status import AppStatus, Readiness, statuses
from tenantry.cluster.stuck import stuck
from tenantry.cluster.webhooks import Webhook, webhooks_of
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted
from tenantry.plan.plan import Plan, plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_POLL_SECONDS = 0.5


@click.command(
    "status",
    cls=Command,
    epilog="""\
Examples:
  tenantry status --environment dev
  tenantry status --environment dev --wait --timeout 300
  tenantry status --environment prod --output json
  tenantry status --environment prod --receivers
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod

Exit codes:
  0  every app is ready; with --receivers: every receiver
  1  at least one is not ready
  2  tenants.yaml is invalid, or the management cluster does not answer
""",
)
@environment_option("The environment to show.", required=True)
@management_options
@click.option("--wait", is_flag=True, help="Wait until every app is ready, or until the timeout.")
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="How long --wait waits.",
)
@click.option("--receivers", is_flag=True, help="Show the receivers and the paths of their webhooks instead of apps.")
@output("text", "json")
@reads_file
def command(
    file: Path,
    environment: str,
    kubeconfig: Path | None,
    context: str | None,
    *,
    wait: bool,
    timeout: int,
    receivers: bool,
    output: str,
) -> int:
    """Show each app of an environment, its status and the revision that Flux applied.

    Also lists stuck deletions and objects that the file does not declare, with a suggested fix.

    Only the management cluster is contacted: Flux reports there about remote clusters too. Nothing is changed.
    """
    if receivers and wait:
        raise click.UsageError("--receivers cannot be combined with --wait")
    with working(f"planning {file}"):
        planned = plan(load_fleet(file), environment)
    with connect_management(file, environment, kubeconfig, context) as client:
        if receivers:
            return _show_webhooks(environment, webhooks_of(client, planned), output)
        live = _wait(client, planned, timeout) if wait else _read(client, planned)
        others, note = _others(client, planned)
        waiting = tuple(stuck(live, _places(client)))
    found = statuses(planned, live)
    if output == "json":
        data_json(_document(environment, found, others, waiting))
    else:
        console = stdout_console()
        console.print(status_table(found, console))
    for message in filter(None, (*waiting, note)):
        say(message)
    return 0 if all(status.readiness is Readiness.READY for status in found) else 1


def _show_webhooks(environment: str, found: tuple[Webhook, ...], output: str) -> int:
    if output == "json":
        data_json(document("Status", environment=environment, receivers=[_webhook_data(each) for each in found]))
    elif found:
        stdout_console().print(webhook_table(found))
    else:
        say("the environment has no receivers")
    return 0 if all(each.readiness is Readiness.READY for each in found) else 1


def _read(client: Client, planned: Plan) -> tuple[Manifest, ...]:
    return tuple(apps_of(client, planned.environment))


def _places(client: Client) -> Places | None:
    """Whose the namespaces are; None if reading them is not allowed."""
    try:
        return Places(namespaces_of(client))
    except Refused:
        return None


def _others(client: Client, planned: Plan) -> tuple[list[ObjectId] | None, str]:
    """Objects of the environment that are not in the plan, and a message about them; None if this user may not read all kinds."""
    try:
        found = leftovers(planned, owned_on(client, planned.environment, [each.id for each in planned.objects]))
    except Refused as refused:
        return None, f"what else is there of environment '{planned.environment}' was not looked at: {refused}"
    return found, told(planned.environment, found)


def _wait(client: Client, planned: Plan, timeout: int) -> tuple[Manifest, ...]:
    """Wait until everything is ready. On a terminal the table updates in place, otherwise each change is a line.

    Returns: what was read last.
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
            Group(
                status_table(found, console), Text(f"{_counts(found)}, {time.monotonic() - started:.0f} s", style="dim")
            )
        )


class _LineProgress:
    """Prints how many apps are ready, each time the number changes."""

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


def _document(
    environment: str, found: tuple[AppStatus, ...], undeclared: list[ObjectId] | None, waiting: tuple[str, ...]
) -> dict[str, Any]:
    return document(
        "Status",
        environment=environment,
        apps=[_as_data(status) for status in found],
        undeclared=None if undeclared is None else [id_as_data(each) for each in undeclared],
        stuck=[dict(zip(("message", "fix"), each.split("\n  fix: ", 1), strict=True)) for each in waiting],
    )


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


def _webhook_data(webhook: Webhook) -> dict[str, Any]:
    return {
        "tenant": webhook.tenant or None,
        "cluster": webhook.cluster,
        "namespace": webhook.id.namespace,
        "name": webhook.id.name,
        "status": webhook.readiness.value,
        "path": webhook.path,
        "message": webhook.message,
    }
