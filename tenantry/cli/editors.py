"""`tenantry schema` and `tenantry completion`: what editors and shells need."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from tenantry.cli.commands import Command
from tenantry.cli.output import data


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
    data(schema_text(OF_TEAMS if included else OF_THE_FLEET).removesuffix("\n"))
    return 0


OF_THE_FLEET, OF_TEAMS = "tenants.schema.json", "tenants-included.schema.json"
_PLACES = (Path(__file__).parents[1], Path(__file__).resolve().parents[2])
"""Where the schemas are: in a wheel, where hatch_build.py puts them, and in the repository, where `docgen.document` writes them."""


def schema_text(name: str) -> str:
    """The JSON Schema in the file of this name."""
    return next(filter(Path.is_file, (place / name for place in _PLACES))).read_text(encoding="utf-8")


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
