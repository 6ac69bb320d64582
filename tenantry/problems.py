"""What is wrong with something that is not the author's file, such as what a cluster holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    """Flux can not work on the cluster."""
    WARNING = "warning"
    """It can, or some day it can not."""


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
