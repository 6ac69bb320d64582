"""`tenantry completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tenantry.cli.commands import Command
from tenantry.cli.output import data


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
def command(context: click.Context, shell: str) -> int:
    """Print the script that makes a shell complete commands and options.

    It also completes the environments, tenants, apps and clusters of tenants.yaml, and Git revisions.
    """
    script = get_completion_class(shell)
    assert script is not None  # the choices are click's own shells
    data(script(context.find_root().command, {}, "tenantry", "_TENANTRY_COMPLETE").source())
    return 0
