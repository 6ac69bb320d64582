"""`tenantry help`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tenantry.cli.commands import Command
from tenantry.cli.output import data


def _below(context: click.Context, words: Sequence[str]) -> click.Context:
    """The context of a command below the root. Raises: click.UsageError: there is none."""
    for word in words:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"'{context.command_path}' has no command '{word}'", context)
        name, command, _ = group.resolve_command(context, [word])
        if command is None:
            break
        context = click.Context(command, context, info_name=name, resilient_parsing=context.resilient_parsing)
    return context


def _complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    below = _below(context.find_root(), context.params.get("words") or ())
    names = below.command.list_commands(below) if isinstance(below.command, click.Group) else []
    return [name for name in names if name.startswith(start)]


@click.command(
    "help",
    cls=Command,
    epilog="""\
Examples:
  tenantry help
  tenantry help diff
  tenantry help cluster check

Exit codes:
  0  success
  2  there is no such command
""",
)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_complete)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> int:
    """Show the help page of a command, as its --help does."""
    data(_below(context.find_root(), words).get_help())
    return 0
