"""`tenantry schema` and `tenantry completion`: what editors and shells need."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tenantry.cli.commands import Command
from tenantry.cli.output import data
from tenantry.fleet.json_schema import json_schema, text_of
from tenantry.fleet.team_schema import included_schema


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
def schema(*, included: bool) -> int:
    """Print the JSON Schema (draft 2020-12) of tenants.yaml.

    It covers keys and values. What a schema cannot express, such as references, `tenantry validate` checks.

    With --included, it is the schema of teams' files, which tenants.yaml includes, with all that can be granted to them.
    """
    data(text_of(included_schema() if included else json_schema()))
    return 0


@click.command(
    "completion",
    cls=Command,
    epilog="""\
Bash, in ~/.bashrc:
  eval "$(tenantry completion bash)"

Zsh, in ~/.zshrc, after compinit:
  eval "$(tenantry completion zsh)"

Fish, once:
  tenantry completion fish > ~/.config/fish/completions/tenantry.fish

Exit codes:
  0  success
  2  wrong usage
""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the script that makes a shell complete commands and options."""
    script = get_completion_class(shell)
    assert script is not None  # the choices are click's own shells
    data(script(context.find_root().command, {}, "tenantry", "_TENANTRY_COMPLETE").source())
    return 0


commands = {"schema": schema, "completion": completion}
