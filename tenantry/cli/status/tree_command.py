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
from tenantry.cli.output import data_json, stdout_console
from tenantry.cli.status.table import COLOURS, short_revision
from tenantry.cluster.status import Readiness, age, one_line
from tenantry.cluster.tree import AppTree, Step, trees
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
  0  everything from the sources to the Kustomizations and HelmReleases is ready
  1  something is not ready
  2  tenants.yaml is invalid, or the management cluster does not answer
""",
)
@names_apps(
    "Tree",
    click.option(
        "--all", "every", is_flag=True, help=f"List all objects, also if there are more than {_MOST_OBJECTS}."
    ),
)
def command(named: Named, output: str, *, every: bool) -> int:
    """Show apps from their source to the objects that Flux applied, with what each step says.

    The objects come from Flux's inventory on the management cluster. The clusters that they are on are not contacted,
    so this shows what Flux applied, not what became of it.
    """
    with named.connect() as client:
        found = trees(client, named.planned, named.apps)
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
        objects = each.objects or ()
        shown = objects if every else objects[:_MOST_OBJECTS]
        for id in shown:
            branch.add(one_line(str(id)))
        if len(objects) > len(shown):
            branch.add(f"and {counted(len(objects) - len(shown), 'more object')}; --all lists them")
        if each.objects is None:
            branch.add("Flux has not applied anything yet")
        console.print(root, markup=False)


def _label(step: Step, now: datetime) -> Text:
    text = Text.assemble(f"{step.id}  ", (step.readiness, COLOURS[step.readiness]))
    text.append("".join(f"  {part}" for part in (age(step.since, now), short_revision(step.revision)) if part))
    if step.readiness is not Readiness.READY and step.message:
        text.append(f"\n{one_line(step.message)}")
    return text
