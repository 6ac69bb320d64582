"""Adds tenants, and their apps and sources."""

from __future__ import annotations

from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.add.command import command
from tenantry.cli.edit.add.sources import source_options
from tenantry.cli.edit.editing import EXIT_CODES, edits, file_named
from tenantry.edit.subjects import adding, selecting
from tenantry.edit.subjects.assignments import assignment
from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.model.document import Frame


@command.command(
    "tenant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add tenant nora --clusters tier=edge
  tenantry add tenant nora --clusters all quota.pods=40 quota.requests.cpu=8
  tenantry add tenant nora --environments dev role=edit network=open
  tenantry add tenant nora --clusters edge-1 --to tenants.d/nora.yaml

{EXIT_CODES}""",
)
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@arguments.clusters("The clusters of its apps: 'all', names, or labels such as tier=edge.")
@arguments.exclude()
@arguments.names("--environments", "The environments it is in; default: all.", arguments.ENVIRONMENTS)
@click.option("--owner-group", "groups", metavar="NAME", multiple=True, help="A group of people who may look at it.")
@arguments.file_to("The included file in which the team declares its apps.")
@edits
def tenant(
    draft: Draft,
    name: str,
    settings: tuple[str, ...],
    *,
    clusters: str | None,
    exclude: list[str],
    environments: list[str],
    groups: tuple[str, ...],
    to: str | None,
) -> Edit:
    """Add a tenant. KEY=VALUE sets more of its settings, such as quota.pods=40."""
    frame: dict[str, Any] = {
        "environments": environments,
        "clusters": selecting.selector_of(clusters, tuple(exclude)) if clusters else None,
        "owners": [{"group": group} for group in groups],
    }
    for setting in settings:
        path, value = assignment(Frame, setting)
        adding.put_into(frame, path, value)
    return adding.add_tenant(draft, name, frame, file_named(draft, to))


@command.command(
    "app",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add app nora/web --path ./web
  tenantry add app nora/web --source manifests --path "./web/{{env}}"
  tenantry add app nora/db --source charts --chart postgres --version 16.x
  tenantry add app nora/web --path ./web --depends-on db --environments prod

{EXIT_CODES}""",
)
@arguments.owned()
@click.option("--source", metavar="NAME", help="A source of the tenant; needed if it has several.")
@click.option("--path", metavar="DIRECTORY", help="The directory of the source with the manifests.")
@click.option("--chart", metavar="NAME", help="The chart in the source.")
@click.option("--version", metavar="VERSION", help="The chart's version, or a range such as 1.x.")
@arguments.names("--depends-on", "Apps of the tenant, or platform/ADDON, that must be ready first.")
@arguments.clusters("Where it runs: 'all', names, or labels; default: the tenant's clusters.")
@arguments.exclude()
@arguments.names("--environments", "The environments it is in; default: the tenant's.", arguments.ENVIRONMENTS)
@edits
def app(
    draft: Draft,
    name: str,
    *,
    source: str | None,
    path: str | None,
    chart: str | None,
    version: str | None,
    depends_on: list[str],
    clusters: str | None,
    exclude: list[str],
    environments: list[str],
) -> Edit:
    """Add an app to a tenant.

    Manifests are applied with --path, a chart is installed with --chart.
    """
    selector = selecting.selector_of(clusters, tuple(exclude)) if clusters else None
    block = {"source": source, "path": path, "chart": chart, "version": version}
    return adding.add_app(
        draft, name, {"clusters": selector, "environments": environments, "dependsOn": depends_on}, block
    )


@command.command(
    "source",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add source nora/tools --git ssh://git@git.example.com/tools --tag v1
  tenantry add source nora/charts --helm https://charts.example.com
  tenantry add source nora/charts --helm oci://registry.example.com/charts
  tenantry add source nora/app --oci oci://registry.example.com/app --tag 1.2.0

{EXIT_CODES}""",
)
@arguments.owned()
@source_options
@edits
def source(draft: Draft, name: str, **options: str | None) -> Edit:
    """Add a source of manifests or charts to a tenant."""
    return adding.add_source(draft, name, adding.source_of(options))
