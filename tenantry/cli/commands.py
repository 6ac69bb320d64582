"""What all commands share: the layout of help pages, exit codes, and messages about wrong command lines."""

from __future__ import annotations

import re
import sys
import textwrap
from typing import Any

import click

from tenantry.cli.output import columns, say
from tenantry.messages.redact import presentable
from tenantry.messages.text import closest

_DESTRUCTIVE = frozenset({"remove", "destroy", "down"})
"""Commands that nobody is led to by another name."""


class _Page(click.Command):
    """Prints its epilog (examples and exit codes) without wrapping."""

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write(f"\n{self.epilog.rstrip()}\n")


class Command(_Page):
    """A command that returns no other exit code than those of its epilog."""

    @property
    def exit_codes(self) -> frozenset[int]:
        """The codes in the epilog. None are there for a command that returns those of another program."""
        _, _, listed = (self.epilog or "").partition("Exit codes:\n")
        return frozenset(map(int, re.findall(r"^  (\d+) ", listed, re.MULTILINE)))

    def invoke(self, ctx: click.Context) -> Any:
        code = super().invoke(ctx)
        assert not self.exit_codes or code in self.exit_codes, (
            f"{self.name} ends with {code}, which its help does not list"
        )
        return code


class Group(_Page, click.Group):
    """A command with subcommands. Its help page lists them in the order of declaration, before the options."""

    command_class = Command

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name, known = args[0], self.list_commands(ctx)
        if ctx.resilient_parsing or name.startswith("-") or name in known:
            return super().resolve_command(ctx, args)
        near = closest(name, [command for command in known if command not in _DESTRUCTIVE])
        proposal = f" Did you mean '{near}'?" if near else ""
        raise click.UsageError(f"No such command '{name}'.{proposal}", ctx)


def show_usage(usage: click.UsageError) -> None:
    """Print what is wrong with a command line to stderr."""
    text = f"Error: {presentable(usage.format_message())}"
    if width := columns(sys.stderr):
        text = textwrap.fill(text, min(width, 80), break_long_words=False, break_on_hyphens=False)
    say(f"{text}\nHelp: {usage.ctx.command_path if usage.ctx else 'tenantry'} --help")
