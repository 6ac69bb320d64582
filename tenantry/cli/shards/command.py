"""The group `tenantry shards`."""

from __future__ import annotations

import click

from tenantry.cli.commands import Group
from tenantry.cli.fleet_file import file_option
from tenantry.cli.shards.list import list_shards
from tenantry.cli.shards.move import move


@click.group("shards", cls=Group)
@file_option()
def command() -> None:
    """List the stacks that share a large environment, and change how many there are."""


command.add_command(list_shards)
command.add_command(move)
