"""`tenantry schema`."""

from __future__ import annotations

import click

from tenantry.cli.commands import Command
from tenantry.cli.output import data_json
from tenantry.fleet.json_schema import json_schema


@click.command(
    "schema",
    cls=Command,
    epilog="""\
Examples:
  tenantry schema > tenants.schema.json

Editors complete and check tenants.yaml if its first line is:
  # yaml-language-server: $schema=tenants.schema.json
""",
)
def command() -> int:
    """Print the JSON Schema (draft 2020-12) of tenants.yaml.

    It covers keys and values. What a schema cannot express, such as references, `tenantry validate` checks.
    """
    data_json(json_schema())
    return 0
