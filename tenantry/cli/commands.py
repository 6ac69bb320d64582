"""What all commands share: the layout of help pages, and messages about wrong command lines."""

from __future__ import annotations

import re
import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from tenantry.cli.habits import EXTRA, FAILING, HABITS, SAME, SHORT, option_answer
from tenantry.cli.output import columns, say
from tenantry.cli.typed import Typed, answer
from tenantry.messages.errors import Refused
from tenantry.messages.redact import presentable
from tenantry.messages.text import closest

GIVEN = "tenantry.given"
"""The key of a context's `meta` with the words after the command, for lines to type."""


class Late:
    """A parameter whose value depends on others: it is settled when all of them are parsed."""

    def settle(self, context: click.Context) -> None:
        """Set the parameter in `context.params`. Raises: click.UsageError."""
        raise NotImplementedError


DESTRUCTIVE = frozenset({"remove", "destroy", "down"})
"""Commands that nobody is led to by a name that is only a little like theirs."""
_HELP = ("--help", "-h")


@contextmanager
def _with_answers(context: click.Context, args: Sequence[str]) -> Iterator[None]:
    """Say what to type instead of a command line that is wrong."""
    given = tuple(args)
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as usage:
        if context.resilient_parsing:
            raise
        message = usage.format_message()
        if isinstance(usage, click.NoSuchOption):
            names = {str(parameter.name) for parameter in context.command.params}
            near = [each for each in usage.possibilities or () if each not in _HELP]
            known = option_answer(usage.option_name, names) or (f"Did you mean '{near[0]}'?" if near else "")
            message = f"{usage.message} {known}".rstrip()
        if told := _habit(context, given, HABITS):
            wrong = usage.message if isinstance(usage, click.NoSuchOption) else usage.format_message()
            message = f"{wrong.partition(' is not one of ')[0].rstrip('.')}. {told}"
        if message == usage.format_message():
            raise
        raise click.UsageError(message, context) from None


def _habit(context: click.Context, args: Sequence[str], habits: Any) -> str:
    """The answer of a table for the whole command line; "" if it has none."""
    return answer(Typed(context, (*context.command_path.split()[1:], *args)), habits)


def _as_meant(context: click.Context, args: Sequence[str]) -> list[str]:
    """The words with the options that mean the same as one of the command. Raises: click.UsageError: `-check`."""
    options = {name for each in context.command.params for name in each.opts if name.startswith("--")}
    found: list[str] = []
    for at, word in enumerate(args):
        if word == "--":
            return [*found, *args[at:]]
        name, equals, value = word.partition("=")
        if re.fullmatch("-[a-z][a-z-]{2,}", name) and f"-{name}" in options:
            line = shlex.join((*context.command_path.split(), *args[:at], f"-{word}", *args[at + 1 :]))
            raise click.UsageError(f"Long options begin with two dashes. Type: {line}", context)
        same = next((each for each in SAME.get(name, ()) if each in options), name)
        found.append(f"{name if name in options else same}{equals}{value}")
    return found


class Command(click.Command):
    """A command that prints its epilog (examples and exit codes) without wrapping, and returns no other exit code."""

    @property
    def exit_codes(self) -> frozenset[int]:
        """The codes in the epilog. None are there for a command that returns those of another program."""
        _, _, listed = (self.epilog or "").partition("Exit codes:\n")
        return frozenset(map(int, re.findall(r"^  (\d+) ", listed, re.MULTILINE)))

    def invoke(self, ctx: click.Context) -> Any:
        given = ctx.meta.get(GIVEN, ())
        try:
            for parameter in self.params:
                if isinstance(parameter, Late):
                    parameter.settle(ctx)
            code = super().invoke(ctx)
        except (Refused, click.UsageError):
            if told := _habit(ctx, given, FAILING):
                raise click.UsageError(told, ctx) from None
            raise
        assert not self.exit_codes or code in self.exit_codes, (
            f"{self.name} ends with {code}, which its help does not list"
        )
        return code

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        write_epilog(self, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not self.ignore_unknown_options:
            args = _as_meant(ctx, args)
        given = ctx.meta[GIVEN] = list(args)
        try:
            with _with_answers(ctx, given):
                return super().parse_args(ctx, args)
        except click.UsageError as usage:
            file = next((each for each in given if each.endswith((".yaml", ".yml"))), None)
            if "unexpected extra argument" not in usage.message or "Type:" in usage.message:
                raise
            answer = f"Did you mean '--file {file}'?" if file else EXTRA.get(str(self.name), "")
            raise click.UsageError(f"{usage.message}. {answer}" if answer else usage.message, ctx) from None


class Group(click.Group):
    """A command with subcommands. Its help page lists them in the order of declaration, before the options."""

    command_class = Command

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        write_epilog(self, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _with_answers(ctx, args):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-") or name in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        names = self.list_commands(ctx)
        near = SHORT[name] if SHORT.get(name) in names else closest(name, names)
        if near in DESTRUCTIVE and not _one_letter_apart(name, near):
            near = None
        told = _habit(ctx, args, HABITS) or (f"Did you mean '{near}'?" if near else "")
        raise click.UsageError(f"No such command '{name}'. {told}".rstrip(), ctx)


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether one letter more, less or in place of another makes one word from the other, or two that changed places."""
    short, long = sorted((one, other), key=len)
    start = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    same_rest, swapped = (
        short[start + 1 :] == long[start + 1 :],
        short[start : start + 2] == long[start : start + 2][::-1],
    )
    return same_rest or (swapped and short[start + 2 :] == long[start + 2 :])


def show_usage(usage: click.UsageError) -> None:
    """Print what is wrong with a command line to stderr, each line to type on a line of its own."""
    head, colon, lines = presentable(usage.format_message()).partition(" Type: ")
    if lines.startswith("-"):  # an option, which is no line
        head, colon, lines = f"{head} Type: {lines}", "", ""
    width = columns(sys.stderr)
    text = f"Error: {head}{' Type:' if colon else ''}"
    say(
        "\n".join(textwrap.wrap(text, min(width, 80), break_long_words=False, break_on_hyphens=False))
        if width
        else text
    )
    for line in lines.splitlines():
        say(f"  {line}")
    if not colon:
        say(f"Help: {usage.ctx.command_path if usage.ctx else 'tenantry'} --help")


def write_epilog(command: click.Command, formatter: click.HelpFormatter) -> None:
    """Print the epilog line by line. click would wrap the examples into one paragraph."""
    if command.epilog:
        formatter.write(f"\n{command.epilog.rstrip()}\n")
