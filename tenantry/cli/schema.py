"""`tenantry schema`."""

from __future__ import annotations

import json
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.output import data
from tenantry.fleet.editor_schema import editor_schema, included_schema


@click.command(
    "schema",
    cls=Command,
    epilog="""\
Examples:
  tenantry schema > tenants.schema.json
  tenantry schema --included > tenants-included.schema.json

Editors complete and check tenants.yaml if its first line is:
  # yaml-language-server: $schema=tenants.schema.json

Exit codes:
  0  success
  2  wrong usage
""",
)
@click.option("--included", is_flag=True, help="The schema of included files, without what belongs to the platform.")
def command(*, included: bool) -> int:
    """Print the JSON Schema (draft 2020-12) of tenants.yaml.

    It covers keys and values. What a schema cannot express, such as references, `tenantry validate` checks.

    With --included, it is the schema of teams' files, which tenants.yaml includes, with all that can be granted to them.
    """
    data(_lines(included_schema() if included else editor_schema(), 4))
    return 0


def _lines(schema: Any, levels: int, indent: str = "") -> str:
    """JSON with a line for each key of the upper levels: of the file, of a definition, of its properties."""
    if not levels or not isinstance(schema, dict) or not schema:
        return json.dumps(schema, separators=(",", ":"))
    lines = (f"{indent} {json.dumps(key)}: {_lines(part, levels - 1, f'{indent} ')}" for key, part in schema.items())
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
