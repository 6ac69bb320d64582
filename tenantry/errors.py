"""What can go wrong, classed by who has to act.

    TenantryError
    +-- InvalidFleet   the author of tenants.yaml: every problem of the file, each with its place
    +-- Refused        whoever runs the command: one message and what to do about it

Anything else that escapes is a bug of ours. Nothing here logs or prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands in the document: ("tenants", "rocky", "apps", "web", "clusters", "names", 1)."""


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a text file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a path of the document; a `Source` knows the line and column of the path.

    notes: facts that help to decide, such as the names that are declared.
    fix:   what to do, in the imperative.
    at_key: the key itself is the problem, not its value.
    """

    path: Path
    code: str
    message: str
    notes: tuple[str, ...] = ()
    fix: str = ""
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem at a place of a file, ready to be shown."""

    location: Location
    code: str
    message: str
    path: Path = ()
    notes: tuple[str, ...] = ()
    fix: str = ""


class TenantryError(Exception):
    """The base of every error that is not a bug."""


class InvalidFleet(TenantryError):
    """The author's file is wrong; holds all problems found in one run, sorted by place."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        unique = dict.fromkeys(diagnostics)
        self.diagnostics = tuple(sorted(unique, key=lambda d: (d.location, d.code, d.message)))
        super().__init__(f"{len(self.diagnostics)} problems")


class Refused(TenantryError):
    """The request can not be carried out as asked; `remedy` says what would help."""

    def __init__(self, message: str, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.message}\n  fix: {self.remedy}" if self.remedy else self.message


class Found(TenantryError):
    """Carries findings out of a computation that can not go on; the caller turns them into an `InvalidFleet`."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(f"{len(self.findings)} findings")


def raise_found(findings: Iterable[Finding]) -> None:
    """Raise what there is; nothing happens where nothing is wrong. Raises: Found."""
    if found := tuple(findings):
        raise Found(found)
