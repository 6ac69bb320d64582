"""Adds to what is there: selectors, overrides, grants."""

from __future__ import annotations

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.add.command import command
from tenantry.cli.edit.editing import EXIT_CODES, edits
from tenantry.edit.subjects import granting, overriding, selecting
from tenantry.edit.subjects.assignments import assignment
from tenantry.edit.subjects.draft import Draft, Edit


@command.command(
    "selector",
    cls=Command,
    epilog=f"""\
OWNER is a tenant, TENANT/APP, platform/ADDON or 'defaults'.

Examples:
  tenantry add selector rocky --clusters edge-2          one cluster more
  tenantry add selector rocky/web --clusters tier=edge   a selector of its own
  tenantry add selector rocky --exclude edge-2

{EXIT_CODES}""",
)
@arguments.holder()
@arguments.clusters("Clusters to take: 'all', names, or labels.")
@arguments.exclude()
@edits
def selector(draft: Draft, owner: str, *, clusters: str | None, exclude: list[str]) -> Edit:
    """Select more clusters for a tenant, an app or an add-on."""
    return selecting.select(draft, owner, selecting.chosen(clusters, exclude))


@command.command(
    "override",
    cls=Command,
    epilog=f"""\
OWNER is a tenant, TENANT/APP, platform/ADDON or 'defaults'.

Examples:
  tenantry add override movy/shop --environment prod helm.version=2.3.1
  tenantry add override movy/shop --cluster us-1 helm.values.replicas=4
  tenantry add override movy/shop --labels region=eu helm.values.replicas=3
  tenantry add override movy --environment prod quota.pods=80

{EXIT_CODES}""",
)
@arguments.holder()
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@arguments.place
@edits
def override(draft: Draft, owner: str, values: tuple[str, ...], *, place: overriding.Place) -> Edit:
    """Set something for one environment or some clusters only."""
    model = overriding.model_of(owner, place)
    return overriding.override(draft, owner, place, [assignment(model, each) for each in values])


@command.command(
    "grant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add grant rocky sources='https://git.example.com/rocky/*'
  tenantry add grant rocky settings=quota,limits
  tenantry add grant rocky clusters=tier=edge
  tenantry add grant selfService/team sources='https://git.example.com/*'

{EXIT_CODES}""",
)
@arguments.existing(arguments.TENANTS, name="tenant")
@click.argument("grants", nargs=-1, required=True, metavar="KEY=VALUE...")
@edits
def grant(draft: Draft, tenant: str, grants: tuple[str, ...]) -> Edit:
    """Allow the included file of a tenant more. The values of a list are separated by commas."""
    done = [granting.grant(draft, tenant, *granting.pair(each)) for each in grants]
    return draft.edit("; ".join(each.done for each in done))
