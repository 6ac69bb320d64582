"""How messages look; every command's text goes through here, so colours and streams are decided once."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from tenantry.diagnostics import format_invalid
from tenantry.errors import Diagnostic, InvalidFleet, Refused
from tenantry.quoting import presentable


def colours(stream: Any) -> bool:
    """Whether a stream gets colours: a terminal does, unless NO_COLOR (no-color.org) or a dumb terminal forbids."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or bool(stream.isatty())


def say(message: str) -> None:
    """A message beside the data."""
    _write(message, sys.stderr)


def error(message: str) -> None:
    """What keeps the command from going on; it may be the text of any exception."""
    message = presentable(message)
    say(f"{click.style('error:', fg='red', bold=True)} {message}")


def data(text: str) -> None:
    """The command's result. Raises: Refused: it can not be written."""
    _write(text, sys.stdout)


def _write(text: str, stream: Any) -> None:
    if stream is None:  # whoever started the command closed it
        return
    try:
        click.echo(text, file=stream, color=colours(stream))
    except OSError as failure:
        # What is still buffered could not be written either, when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        # A reader that went away, `head` for one, has seen enough.
        if not isinstance(failure, BrokenPipeError):
            raise Refused(f"can not write the result: {failure.strerror}") from None


def data_json(value: Any) -> None:
    data(json.dumps(value, indent=2))


def report_invalid(invalid: InvalidFleet) -> None:
    """All problems of a file on stderr, places in bold and codes in red."""
    for line in format_invalid(invalid).splitlines():
        place, separator, rest = line.partition(": error[")
        if separator and not line.startswith(" "):
            code, _, message = rest.partition("]: ")
            say(f"{click.style(place, bold=True)}: {click.style(f'error[{code}]', fg='red', bold=True)}: {message}")
        else:
            say(line)


def as_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A problem for `--output json`."""
    return {
        "file": diagnostic.location.file,
        "line": diagnostic.location.line,
        "column": diagnostic.location.column,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "path": list(diagnostic.path),
        "notes": list(diagnostic.notes),
        "fix": diagnostic.fix,
    }
