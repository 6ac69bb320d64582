"""How a command that fails ends: a message on stderr, an exit code, and with `--output json` a document on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import show_usage
from tenantry.cli.output import error, report_invalid
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.redact import presentable

if TYPE_CHECKING:
    from tenantry.cli.documents.common import Document, Failure


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


def as_document(kind: str, failure: BaseException) -> Document:
    """The document of a command that failed before it printed its own."""
    from tenantry.cli.documents.common import Failed, Invalid

    if isinstance(failure, InvalidFleet):
        return Invalid(kind=kind, errors=failure.diagnostics)
    return Failed(kind=kind, error=described(failure))


def described(failure: BaseException) -> Failure:
    """What went wrong, for the key `error` of a document."""
    from tenantry.cli.documents.common import Failure

    code, message, fix = _described(failure)
    return Failure(code=code, message=presentable(message), fix=presentable(fix), exit_code=exit_code(failure))


def _described(failure: BaseException) -> tuple[str, str, str]:
    match failure:
        case Refused():
            return failure.code, failure.message, failure.fix
        case click.UsageError():
            path = failure.ctx.command_path if failure.ctx else "tenantry"
            return "usage", failure.format_message(), f"see `{path} --help`"
        case click.ClickException():
            return "usage", failure.format_message(), ""
        case KeyboardInterrupt() | click.Abort():
            return "interrupted", "interrupted", "run it again"
        case _:
            return "internal", _bug(failure), _DEBUG


def _bug(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"
