"""What all commands share: the layout of help pages, and messages about wrong command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import click

from tenantry.cli.habits import EXTRA, SHORT, SUBCOMMANDS, option_answer, with_app
from tenantry.messages.text import closest

GIVEN = "tenantry.given"
"""The key of a context's `meta` with the words after the command, for lines to type."""


class Late:
    """A parameter whose value depends on others: it is settled when all of them are parsed."""

    def settle(self, context: click.Context) -> None:
        """Set the parameter in `context.params`. Raises: click.UsageError."""
        raise NotImplementedError


@contextmanager
def _with_answers(context: click.Context) -> Iterator[None]:
    """Say what to type instead of an option that a command does not have."""
    try:
        yield
    except click.NoSuchOption as unknown:
        names = {str(parameter.name) for parameter in context.command.params}
        if answer := option_answer(unknown.option_name, names):
            raise click.UsageError(f"{unknown.message} {answer}", context) from None
        raise


class Command(click.Command):
    """A command that prints its epilog (examples and exit codes) without wrapping, and returns no other exit code."""

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

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        write_epilog(self, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = ctx.meta[GIVEN] = list(args)
        try:
            with _with_answers(ctx):
                return super().parse_args(ctx, args)
        except click.UsageError as usage:
            file = next((each for each in given if each.endswith((".yaml", ".yml"))), None)
            if "unexpected extra argument" not in usage.message:
                raise
            answer = f"Did you mean '--file {file}'?" if file else EXTRA.get(str(self.name), "")
            raise click.UsageError(f"{usage.message}. {answer}" if answer else usage.message, ctx) from None


class Group(click.Group):
    """A command with subcommands. Its help page lists them in the order of declaration, before the options."""

    command_class = Command
    answers: ClassVar[Mapping[str, str]] = {}
    """Hints for names that people try although they are not commands."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        write_epilog(self, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _with_answers(ctx):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-") or name in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        names = self.list_commands(ctx)
        near = SHORT[name] if SHORT.get(name) in names else closest(name, names)
        answer = self.answers.get(name) or (f"Did you mean '{near}'?" if near else SUBCOMMANDS.get(name, ""))
        raise click.UsageError(f"No such command '{name}'. {with_app(answer, args[1:])}".rstrip(), ctx)


def write_epilog(command: click.Command, formatter: click.HelpFormatter) -> None:
    """Print the epilog line by line. click would wrap the examples into one paragraph."""
    if command.epilog:
        formatter.write(f"\n{command.epilog.rstrip()}\n")
