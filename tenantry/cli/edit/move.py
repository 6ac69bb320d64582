"""`tenantry move`."""

from __future__ import annotations

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit import arguments
from tenantry.cli.edit.editing import EXIT_CODES, edits, file_named
from tenantry.edit.subjects import moving
from tenantry.edit.subjects.draft import Draft, Edit


@click.group(
    "move",
    cls=Group,
    epilog="""\
Examples:
  tenantry move app rocky/web movy --with-sources
  tenantry move tenant rocky --to tenants.d/rocky.yaml
  tenantry move cluster edge-2 --environments prod
""",
)
def command() -> None:
    """Move an app to another tenant, a tenant to a file of its own, or a cluster to another environment."""


@command.command(
    "app",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry move app rocky/web movy
  tenantry move app rocky/web movy --with-sources

{EXIT_CODES}""",
)
@arguments.existing(arguments.APPS, name="app")
@arguments.existing(arguments.TENANTS, name="tenant")
@click.option("--with-sources", is_flag=True, help="Bring along the sources that the other tenant lacks.")
@edits
def app(draft: Draft, app: str, tenant: str, *, with_sources: bool) -> Edit:
    """Move an app to another tenant.

    On the clusters, nothing is handed over: the app is uninstalled from the namespaces of one tenant and installed into
    those of the other. Its data does not move.
    """
    return moving.move_app(draft, app, tenant, with_sources=with_sources)


@command.command(
    "tenant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry move tenant rocky --to tenants.d/rocky.yaml
  tenantry move tenant rocky --to tenants.yaml

{EXIT_CODES}""",
)
@arguments.existing(arguments.TENANTS, name="tenant")
@click.option(
    "--to",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False),
    help="A file of the fleet: an included one, or the main file.",
)
@edits
def tenant(draft: Draft, tenant: str, *, to: str) -> Edit:
    """Move the apps of a tenant to another file.

    What belongs to them moves too: sources, credentials, configs, alerts and receivers. What the platform decides about
    the tenant stays in the main file. Nothing changes on the clusters.
    """
    file = file_named(draft, to)
    assert file is not None
    return moving.move_tenant(draft, tenant, file)


@command.command(
    "cluster",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry move cluster edge-2 --environments prod
  tenantry move cluster edge-2 --group eu

{EXIT_CODES}""",
)
@arguments.existing(arguments.CLUSTERS)
@arguments.names("--environments", "All environments that it belongs to from now on.", arguments.ENVIRONMENTS)
@arguments.one("--group", "The group whose settings it takes from now on.", arguments.GROUPS)
@edits
def cluster(draft: Draft, name: str, *, environments: list[str], group: str | None) -> Edit:
    """Move a cluster to other environments, or to another group."""
    if not environments and group is None:
        raise click.UsageError("Missing option '--environments' or '--group'.")
    return moving.move_cluster(draft, name, environments, group)
