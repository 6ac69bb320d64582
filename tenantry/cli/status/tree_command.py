"""`tenantry tree`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from rich.text import Text
from rich.tree import Tree

from tenantry.cli.commands import Command
from tenantry.cli.named_apps import Named, in_words, names_apps
from tenantry.cli.output import data_json, stdout_console, working
from tenantry.cli.status.table import COLOURS, short_revision
from tenantry.cluster.health import Health
from tenantry.cluster.status import Readiness, age, one_line
from tenantry.cluster.tree import Applied, AppTree, Step, trees, with_health
from tenantry.messages.text import counted

if TYPE_CHECKING:
    from rich.text import Text

_MOST_OBJECTS = 30


@click.command(
    "tree",
    cls=Command,
    epilog="""\
Examples:
  tenantry tree rocky/web --environment dev
  tenantry tree rocky/web --environment prod --cluster edge-1
  tenantry tree platform/cert-controller --environment prod --output json

Exit codes:
  0  everything from the sources to the applied objects is ready
  1  something is not ready, or could not be read
  2  there is no such app, or the management cluster does not answer
""",
)
@names_apps(
    "Tree",
    click.option(
        "--all", "every", is_flag=True, help=f"List all objects, also if there are more than {_MOST_OBJECTS}."
    ),
    click.option(
        "--health/--no-health",
        default=True,
        show_default=True,
        help="Read the state of the applied objects on the apps' clusters.",
    ),
)
def command(named: Named, output: str, *, every: bool, health: bool) -> int:
    """Show apps from their source to the objects that Flux applied, with what each step says and how each object is.

    The objects come from Flux's inventory on the management cluster. Their state is read on the app's cluster: with the
    kubeconfig that Flux uses, as the tenant's service account. With --no-health, only the management cluster is contacted.

    `tenantry why` tells the cause of what is not ready.
    """
    with named.connect() as client:
        found = trees(client, named.planned, named.apps)
        if health:
            with working("asking the apps' clusters"):
                found = with_health(client, found, named.planned)
    if output == "json":
        from tenantry.cli.documents.states import Tree

        data_json(Tree(environment=named.environment, apps=found))
    else:
        _print(found, every=every)
    return 0 if all(each.ready for each in found) else 1


def _print(found: Iterable[AppTree], *, every: bool) -> None:
    console, now = stdout_console(), datetime.now(UTC)
    for each in found:
        root = branch = Tree(in_words(each.app), guide_style="dim")
        for step in each.steps:
            branch = branch.add(_label(step, now))
        objects = each.applied or []
        shown = objects if every else objects[:_MOST_OBJECTS]
        for applied in shown:
            branch.add(_object(applied))
        if len(objects) > len(shown):
            branch.add(f"and {counted(len(objects) - len(shown), 'more object')}; --all lists them")
        if each.applied is None:
            branch.add("Flux has not applied anything yet")
        for unread in each.unread:
            root.add(Text(f"not read: {one_line(unread)}", style="dim"))
        console.print(root, markup=False)


def _object(applied: Applied) -> Text:
    text = Text(one_line(str(applied.id)))
    if applied.health is not None:
        text.append("  ")
        text.append(applied.health, HEALTH_COLOURS[applied.health])
        if applied.why and applied.health is not Health.UNKNOWN:
            text.append(f"\n{one_line(applied.why)}")
    return text


HEALTH_COLOURS = {
    Health.READY: "green",
    Health.PROGRESSING: "yellow",
    Health.FAILED: "red",
    Health.MISSING: "red",
    Health.UNKNOWN: "magenta",
}


def _label(step: Step, now: datetime) -> Text:
    text = Text.assemble(f"{step.id}  ", (step.readiness, COLOURS[step.readiness]))
    text.append("".join(f"  {part}" for part in (age(step.since, now), short_revision(step.revision)) if part))
    if step.readiness is not Readiness.READY and step.message:
        text.append(f"\n{one_line(step.message)}")
    return text
