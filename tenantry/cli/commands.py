"""What all commands share: the layout of help pages, exit codes, and how a command ends that fails."""

from __future__ import annotations

from typing import Any

import click

from tenantry.cli.output import error, say
from tenantry.messages.errors import InvalidFleet, Refused, RefusedChange
from tenantry.messages.redact import presentable
from tenantry.messages.text import closest

_DESTRUCTIVE = frozenset({"remove", "destroy", "down"})
"""Commands that nobody is led to by another name."""


class Command(click.Command):
    """Prints its epilog (examples and exit codes) without wrapping. It returns no other exit code than those of its epilog."""

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write(f"\n{self.epilog.rstrip()}\n")


class Group(Command, click.Group):
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
    say(
        f"Error: {presentable(usage.format_message())}\nHelp: {usage.ctx.command_path if usage.ctx else 'tenantry'} --help"
    )


_DEBUG = "run it again with TENANTRY_DEBUG=1 and report what it prints"


def exit_code(failure: BaseException) -> int:
    """2 for what the user can correct, 4 for what the guard refuses, 130 for an interruption, 3 for a bug."""
    if isinstance(failure, RefusedChange):
        return 4
    if isinstance(failure, InvalidFleet | Refused | click.UsageError):
        return 2
    return 130 if isinstance(failure, KeyboardInterrupt | click.Abort) else 3


def report(failure: BaseException) -> None:
    """Print to stderr what went wrong."""
    match failure:
        case InvalidFleet():
            from tenantry.cli.problems import report_invalid  # few commands meet an invalid file

            report_invalid(failure)
        case Refused():
            error(str(failure))
        case click.exceptions.NoArgsIsHelpError():
            click.echo(failure.format_message())
        case click.UsageError():
            show_usage(failure)
        case KeyboardInterrupt() | click.Abort():
            error("interrupted")
        case _:
            error(f"internal error (please report): {_bug(failure)}\n  fix: {_DEBUG}")


def as_document(failure: BaseException) -> dict[str, Any]:
    """The document of a command that failed before it printed its own: the problems of an invalid file, or the error."""
    if isinstance(failure, InvalidFleet):
        return {"valid": False, "errors": failure.diagnostics, "warnings": ()}
    return {"error": described(failure)}


def described(failure: BaseException) -> dict[str, Any]:
    """Why a command failed, for the key `error` of a document. Its `code` is for programs, as docs/output.md lists them."""
    match failure:
        case Refused():
            code, message, fix = failure.code, failure.message, failure.fix
        case click.UsageError():
            path = failure.ctx.command_path if failure.ctx else "tenantry"
            code, message, fix = "usage", failure.format_message(), f"see `{path} --help`"
        case KeyboardInterrupt() | click.Abort():
            code, message, fix = "interrupted", "interrupted", "run it again"
        case _:
            code, message, fix = "internal", _bug(failure), _DEBUG
    texts = {"message": presentable(message), "fix": presentable(fix)}
    return {"code": code, **texts, "exitCode": exit_code(failure)}


def _bug(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"
