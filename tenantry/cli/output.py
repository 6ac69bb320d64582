"""How messages, JSON and tables look, and how a terminal names long work. All commands print through this module."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from threading import Timer
from types import NoneType
from typing import Any, Final

import click

from tenantry.messages.data import ABSENT
from tenantry.messages.errors import NOWHERE, Refused
from tenantry.messages.redact import presentable
from tenantry.messages.text import printable


def colours(stream: Any) -> bool:
    """Whether to use colours on a stream: on a terminal that is not dumb, unless NO_COLOR (no-color.org) is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    # FORCE_COLOR (force-color.org) and CLICOLOR_FORCE (bixense.com/clicolors) ask for them in a pipe.
    forced = os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0")
    return bool(forced) or bool(stream.isatty())


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
    text = as_json(result, kind)
    _answered.set(True)
    data(text)


# --- JSON: the result is the document. Its fields are the keys, in camelCase -----------------------------------------
#
# A class whose result has properties, or whose fields are not all for programs, lists the attributes that are keys in `json_keys`.
# This masks nothing: results hold no secret, because whoever makes a message or a difference masks it.

API_VERSION: Final = "tenantry/v1"


def as_json(result: Any, kind: str = "") -> str:
    """The JSON of a result, in ASCII. Args: kind: of the document; "" for data of another format, such as a JSON Schema.

    Raises: TypeError: a value has no form in JSON.
    """
    data = plain(result)
    document = {"apiVersion": API_VERSION, "kind": kind, **data} if kind else data
    # In a fifth of the time of `json`, which would also write NaN. Nothing but a result needs it.
    from pydantic_core import to_json

    text = to_json(document, indent=2, ensure_ascii=True, inf_nan_mode="strings").decode()
    return text.replace("\x7f", "\\u007f")


def plain(value: Any) -> Any:
    """Mappings, lists and scalars alone. A key whose value is ABSENT, or the place of what is in no file, is left out."""
    kind: type = type(value)
    # Most values are in manifests, so their types come first.
    if kind in _SCALARS or (kind is str and value.isascii()):
        return value
    if kind is dict:
        return {_key(key): plain(item) for key, item in value.items() if item is not ABSENT}
    if kind is list:
        return [plain(item) for item in value]
    if keys := _keys(kind):
        pairs = ((key, getattr(value, name)) for name, key in keys)
        return {key: plain(item) for key, item in pairs if item is not ABSENT and item is not NOWHERE}
    match value:
        case Enum():
            return plain(value.value)
        case str():
            # A file name can hold half a character, which has no form in JSON.
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case Mapping():
            return plain(dict(value))
        case tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return [plain(item) for item in sorted(value)]
        case Path():
            return plain(str(value))
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    raise TypeError(f"{kind.__name__} has no form in JSON")


_SCALARS = frozenset({int, float, bool, NoneType})


def _key(key: Any) -> str:
    """A key of a mapping. Those of YAML can be numbers, true and null."""
    key = plain(key)
    return key if isinstance(key, str) else json.dumps(key)


@cache
def _keys(kind: type) -> tuple[tuple[str, str], ...]:
    """The attributes of a result with their keys; none for what is no dataclass and no named tuple."""
    names: Iterable[str] = getattr(kind, "json_keys", ())
    if not names and dataclasses.is_dataclass(kind):
        names = (field.name for field in dataclasses.fields(kind))
    return tuple((name, _camel(name)) for name in names or getattr(kind, "_fields", ()))


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return "".join([first, *(word.capitalize() for word in others)])


# --- long work ---------------------------------------------------------------------------------------------------------

PATIENCE = 1.0
"""Seconds before work is named: nobody misses it for shorter work."""


@contextmanager
def working(what: str) -> Iterator[None]:
    """Name work that takes long, if a person watches: continuous integration can have a terminal, and keeps its log."""
    is_watched = sys.stderr is not None and sys.stderr.isatty()
    if not is_watched or os.environ.get("CI", "").lower() not in ("", "0", "false"):
        yield
        return
    timer = Timer(PATIENCE, say, (f"{printable(what)} ...",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


# --- tables ------------------------------------------------------------------------------------------------------------

Row = Mapping[str, str]
"""The cells by their headings."""
_GAP = "  "


def table(
    rows: Sequence[Row], headings: Sequence[str], painted: Callable[[str, str], str] = lambda _, cell: cell
) -> Iterator[str]:
    """The line of the headings, then one for each row. painted: a cell with its heading's colour; it may hold trailing spaces."""
    widths = [max(_width(heading), *(_width(row[heading]) for row in rows), 0) for heading in headings]

    def line(cells: Iterable[str], paint: Callable[[str, str], str]) -> str:
        padded = (f"{cell}{' ' * (width - _width(cell))}" for cell, width in zip(cells, widths, strict=True))
        return _GAP.join(paint(heading, cell) for heading, cell in zip(headings, padded, strict=True)).rstrip()

    yield click.style(line(headings, lambda _, cell: cell), bold=True)
    for row in rows:
        yield line((row[heading] for heading in headings), painted)


def _width(text: str) -> int:
    from rich.cells import cell_len  # most commands print no table

    return cell_len(text)
