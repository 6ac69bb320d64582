"""Problems with something other than the author's file, such as the objects on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tenantry.messages.errors import AllRefused, RefusedChange, Severity


@dataclass(frozen=True, slots=True)
class Problem:
    """code and message say what is wrong, fix what to do about it."""

    severity: Severity
    code: str
    message: str
    fix: str


def error(code: str, message: str, fix: str) -> Problem:
    return Problem(Severity.ERROR, code, message, fix)


def warning(code: str, message: str, fix: str) -> Problem:
    return Problem(Severity.WARNING, code, message, fix)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise all problems as one refusal; do nothing if there are no problems. Raises: RefusedChange."""
    reasons = [RefusedChange(each.message, each.fix) for each in problems]
    if reasons:
        raise reasons[0] if len(reasons) == 1 else AllRefused(reasons)
