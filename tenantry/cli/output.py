"""How messages, problems and tables look. All commands print through this module, which decides about colours and streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import click

from tenantry.cli.progress import room, terminal_columns
from tenantry.cli.progress import working as working
from tenantry.messages.errors import InvalidFleet, Problem, Refused, Severity
from tenantry.messages.redact import presentable
from tenantry.messages.text import counted, format_count, format_diagnostic, format_warning_count


def colours(stream: Any) -> bool:
    """Whether to use colours on a stream: on a terminal that is not dumb, unless NO_COLOR (no-color.org) is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    # FORCE_COLOR (force-color.org) and CLICOLOR_FORCE (bixense.com/clicolors) ask for them in a pipe.
    forced = os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0")
    return bool(forced) or bool(stream.isatty())


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


def columns(stream: Any) -> int | None:
    """How wide a terminal is; None if the stream is not one. Programs need each fact on one line, so nothing is wrapped."""
    return terminal_columns() if _is_terminal(stream) else None


def say(message: str) -> None:
    """Print a message to stderr. It can name files whose names are not text."""
    _write(message.encode(errors="backslashreplace").decode(), sys.stderr)


def error(message: str) -> None:
    """Print an error that ends the command. The text can be that of any exception."""
    message = presentable(message)
    say(f"{click.style('error:', fg='red', bold=True)} {message}")


def data(text: str) -> None:
    """Print the command's result. Raises: Refused: it cannot be written."""
    _write(text, sys.stdout)


def _write(text: str, stream: Any) -> None:
    if stream is None:  # the process that started the command closed it
        return
    try:
        with room():
            click.echo(text, file=stream, color=colours(stream))
    except OSError as failure:
        # The rest of the buffer cannot be written either, so the end of the process must not try.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        # The reader needs no more output, for example `head`.
        if not isinstance(failure, BrokenPipeError):
            raise Refused(f"cannot write the result: {failure.strerror}") from None


_answered: ContextVar[bool] = ContextVar("answered", default=False)


def start_answer() -> None:
    """Note that the command which begins has printed no document yet."""
    _answered.set(False)


def is_answered() -> bool:
    """Whether the command has printed its document. A second one would make stdout invalid."""
    return _answered.get()


def data_json(result: Any, kind: str = "") -> None:
    """Print a result as JSON. Args: kind: as in `as_json`. A command calls this once."""
    from tenantry.cli.serializer import as_json

    text = as_json(result, kind)
    _answered.set(True)
    data(text)


def report_invalid(invalid: InvalidFleet) -> None:
    """Print all problems of a file to stderr."""
    _report(invalid.diagnostics, format_count(invalid))


def report_warnings(warnings: Sequence[Problem]) -> None:
    """Print the warnings of a file to stderr, if there are any."""
    if warnings:
        _report(warnings, format_warning_count(warnings))


def _report(diagnostics: Sequence[Problem], closing: str) -> None:
    """Print each problem with its line of the file: places in bold, codes and carets in the colour of the severity."""
    from tenantry.cli.excerpt import excerpts

    width = terminal_columns() if _is_terminal(sys.stderr) else _PIPE_WIDTH
    for diagnostic, excerpt in zip(diagnostics, excerpts(diagnostics, width - _GUTTER), strict=True):
        colour = _COLOURS[diagnostic.severity]
        first, *rest = format_diagnostic(diagnostic).splitlines()
        say(_headline(first, diagnostic.severity))
        if excerpt:
            say(f"{excerpt.number:>6} | {excerpt.line}")
            say(f"{'':>6} | {' ' * excerpt.before}{click.style('^' * excerpt.length, fg=colour, bold=True)}")
        for line in rest:
            say(line)
    say(closing)


def _headline(line: str, severity: Severity) -> str:
    place, _, rest = line.partition(f": {severity}[")
    code, _, message = rest.partition("]: ")
    mark = click.style(f"{severity}[{code}]", fg=_COLOURS[severity], bold=True)
    return f"{click.style(place, bold=True)}: {mark}: {message}"


_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def as_text(problem: Problem) -> str:
    """`error[code]: message`, and the fix below it."""
    mark = click.style(f"{problem.severity}[{problem.code}]", fg=_COLOURS[problem.severity], bold=True)
    return f"{mark}: {presentable(problem.message)}\n  fix: {presentable(problem.fix)}"


def counts(problems: Sequence[Problem]) -> str:
    """2 errors, 1 warning; "" if there are none."""
    numbers = {severity: sum(problem.severity is severity for problem in problems) for severity in Severity}
    return ", ".join(counted(number, each) for each, number in numbers.items() if number)


_PIPE_WIDTH = 120
"""Columns for lines of the file if stderr is not a terminal."""
_GUTTER = 9
"""Columns before a line of the file, for its number and a bar."""
