"""`tenantry schema`."""

from __future__ import annotations

import click

from tenantry.cli.output import data_json
from tenantry.fleet.json_schema import json_schema


@click.command(
    "schema",
    short_help="print the JSON Schema of the fleet's file",
    epilog="""\b
Examples:
  tenantry schema > tenants.schema.json
  # yaml-language-server: $schema=tenants.schema.json     as the first line of tenants.yaml: editors complete and check
""",
)
def command() -> int:
    """Print the JSON Schema (2020-12) of tenants.yaml. What it cannot say, such as references, `validate` checks."""
    data_json(json_schema())
    return 0
