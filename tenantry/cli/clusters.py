"""`tenantry clusters`: commands about all clusters of an environment."""

from __future__ import annotations

import click

from tenantry.cli.commands import Group
from tenantry.cli.discover import discover
from tenantry.cli.fleet_file import file_option


@click.group("clusters", cls=Group)
@file_option()
def command() -> None:
    """Write the clusters that a management cluster knows into a file of the fleet."""


command.add_command(discover)
