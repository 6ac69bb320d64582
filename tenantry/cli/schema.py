"""`tenantry schema`."""

from __future__ import annotations

from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import file_option, fleet_file
from tenantry.cli.options import tenant_name
from tenantry.cli.output import data_json, working
from tenantry.fleet.editor_schema import editor_schema
from tenantry.fleet.included_schema import included_schema, included_schema_of
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused


@click.command(
    "schema",
    cls=Command,
    epilog="""\
Examples:
  tenantry schema > tenants.schema.json
  tenantry schema --included > tenants-included.schema.json
  tenantry schema --included --tenant rocky > rocky.schema.json

Editors complete and check tenants.yaml if its first line is:
  # yaml-language-server: $schema=tenants.schema.json

Exit codes:
  0  success
  2  wrong usage; with --tenant: tenants.yaml is invalid
""",
)
@click.option("--included", is_flag=True, help="The schema of included files, without what belongs to the platform.")
@tenant_name("With --included: only what the file of this tenant may say.")
@file_option()
@click.pass_context
def command(context: click.Context, tenant: str | None, *, included: bool) -> int:
    """Print the JSON Schema (draft 2020-12) of tenants.yaml.

    It covers keys and values. What a schema cannot express, such as references, `tenantry validate` checks.

    With --included, it is the schema of teams' files, which tenants.yaml includes. With --tenant, which reads tenants.yaml, it
    has only the settings, clusters, roles and prefixes of labels that are granted to this tenant.
    """
    if tenant and not included:
        raise Refused("--tenant needs --included", "add --included: tenants.yaml has one schema for all tenants")
    data_json(_of_tenant(context, tenant) if tenant else included_schema() if included else editor_schema())
    return 0


def _of_tenant(context: click.Context, tenant: str) -> dict[str, Any]:
    file = fleet_file(context)
    with working(f"reading {file}"):
        return included_schema_of(load_fleet(file), tenant)
