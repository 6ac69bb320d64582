"""How a command that fails ends: a message on stderr, an exit code, and with `--output json` a document on stdout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from tenantry.cli.commands import show_usage
from tenantry.cli.output import error, report_invalid
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.redact import presentable

_DEBUG = "run it again with TENANTRY_DEBUG=1 and report what it prints"


def exit_code(failure: BaseException) -> int:
    """2 for what the user can correct, 130 for an interruption, 3 for a bug."""
    if isinstance(failure, InvalidFleet | Refused | click.ClickException):
        return 2
    return 130 if isinstance(failure, KeyboardInterrupt | click.Abort) else 3


def report(failure: BaseException) -> None:
    """Print to stderr what went wrong."""
    match failure:
        case InvalidFleet():
            report_invalid(failure)
        case Refused():
            error(str(failure))
        case click.exceptions.NoArgsIsHelpError():
            click.echo(failure.format_message())
        case click.UsageError():
            show_usage(failure)
        case click.ClickException():
            failure.show()
        case KeyboardInterrupt() | click.Abort():
            error("interrupted")
        case _:
            error(f"internal error (please report): {_bug(failure)}\n  fix: {_DEBUG}")


def as_document(failure: BaseException) -> dict[str, Any]:
    """The document of a command that failed before it printed its own: the problems of an invalid file, or the error."""
    if isinstance(failure, InvalidFleet):
        return {"valid": False, "errors": failure.diagnostics, "warnings": ()}
    return {"error": described(failure)}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command failed. code: for programs, as docs/output.md lists them; message, fix: for people, without secrets."""

    code: str
    message: str
    fix: str
    exit_code: int


def described(failure: BaseException) -> Failure:
    """What went wrong, for the key `error` of a document."""
    match failure:
        case Refused():
            code, message, fix = failure.code, failure.message, failure.fix
        case click.UsageError():
            path = failure.ctx.command_path if failure.ctx else "tenantry"
            code, message, fix = "usage", failure.format_message(), f"see `{path} --help`"
        case click.ClickException():
            code, message, fix = "usage", failure.format_message(), ""
        case KeyboardInterrupt() | click.Abort():
            code, message, fix = "interrupted", "interrupted", "run it again"
        case _:
            code, message, fix = "internal", _bug(failure), _DEBUG
    return Failure(code, presentable(message), presentable(fix), exit_code(failure))


def _bug(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"
