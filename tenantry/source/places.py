"""Where something stands in a file, and an error that points there."""

from __future__ import annotations

from typing import Any

from tenantry.messages.errors import Diagnostic, InvalidFleet, Location
from tenantry.messages.lines import LINE_BREAK, Lines


def location(file: str, found: Any, lines: Lines | None = None) -> Location:
    """Where a node or an event starts; both carry marks that count from 0."""
    return Location(file, found.start_mark.line + 1, found.start_mark.column + 1).within(lines)


def end_of(text: str, file: str) -> Location:
    """The place right behind a text."""
    lines = LINE_BREAK.split(text)
    return Location(file, len(lines), len(lines[-1]) + 1)


def invalid(place: Location, code: str, message: str, fix: str = "") -> InvalidFleet:
    """The error of a file with this one problem."""
    return InvalidFleet([Diagnostic(place, code, message, fix=fix)])
