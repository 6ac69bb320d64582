"""`tenantry completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tenantry.cli.output import data


@click.command("completion", short_help="print the completion script of a shell")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    r"""Print the completion script of a shell.

    \b
    bash: eval "$(tenantry completion bash)"     in ~/.bashrc
    zsh:  eval "$(tenantry completion zsh)"      in ~/.zshrc
    fish: tenantry completion fish > ~/.config/fish/completions/tenantry.fish
    """
    script = get_completion_class(shell)
    assert script is not None  # the choices are click's own shells
    data(script(context.find_root().command, {}, "tenantry", "_TENANTRY_COMPLETE").source())
    return 0
