"""What all commands share: the layout of help pages, and messages about wrong command lines."""

from __future__ import annotations

import re
import sys
import textwrap
from abc import ABC, abstractmethod
from typing import Any

import click

from tenantry.cli.output import columns, say
from tenantry.messages.redact import presentable
from tenantry.messages.text import closest

GIVEN = "tenantry.given"
"""The key of a context's `meta` with the words after the command, for lines to type."""


class Late(ABC):
    """A parameter whose value depends on others: it is settled when all of them are parsed."""

    @abstractmethod
    def settle(self, context: click.Context) -> None:
        """Set the parameter in `context.params`. Raises: click.UsageError."""


_DESTRUCTIVE = frozenset({"remove", "destroy", "down"})
"""Commands that nobody is led to by a name that is only a little like theirs."""
_HELP = ("--help", "-h")


class _Page(click.Command):
    """Prints its epilog (examples and exit codes) without wrapping, and names the closest option in place of a wrong one."""

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write(f"\n{self.epilog.rstrip()}\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[GIVEN] = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as usage:
            near = [name for name in usage.possibilities or () if name not in _HELP]
            proposal = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"{usage.message}{proposal}", ctx) from None


class Command(_Page):
    """A command that returns no other exit code than those of its epilog."""

    @property
    def exit_codes(self) -> frozenset[int]:
        """The codes in the epilog. None are there for a command that returns those of another program."""
        _, _, listed = (self.epilog or "").partition("Exit codes:\n")
        return frozenset(map(int, re.findall(r"^  (\d+) ", listed, re.MULTILINE)))

    def invoke(self, ctx: click.Context) -> Any:
        for parameter in self.params:
            if isinstance(parameter, Late):
                parameter.settle(ctx)
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
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-") or name in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        near = closest(name, self.list_commands(ctx))
        if near in _DESTRUCTIVE and not _one_letter_apart(name, near):
            near = None
        proposal = f" Did you mean '{near}'?" if near else ""
        raise click.UsageError(f"No such command '{name}'.{proposal}", ctx)


def _one_letter_apart(word: str, name: str) -> bool:
    """Whether one letter more, less or in place of another makes one word from the other, or two that changed places."""
    short, long = sorted((word, name), key=len)
    start = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    is_swapped = short[start : start + 2] == long[start : start + 2][::-1]
    return short[start + 1 :] == long[start + 1 :] or (is_swapped and short[start + 2 :] == long[start + 2 :])


def show_usage(usage: click.UsageError) -> None:
    """Print what is wrong with a command line to stderr, each line to type on a line of its own."""
    head, colon, lines = presentable(usage.format_message()).partition(" Type: ")
    width = columns(sys.stderr)
    text = f"Error: {head}{' Type:' if colon else ''}"
    if width:
        text = textwrap.fill(text, min(width, 80), break_long_words=False, break_on_hyphens=False)
    say(text)
    for line in lines.splitlines():
        say(f"  {line}")
    if not colon:
        say(f"Help: {usage.ctx.command_path if usage.ctx else 'tenantry'} --help")
