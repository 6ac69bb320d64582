"""A problem, and the errors that carry problems, by who has to act.

    TenantryError
    +-- InvalidFleet   the author of tenants.yaml: all problems of the file, each with its place
    +-- Refused        the person who runs the command: one message and its fix
    +-- InvalidPart    nobody yet: problems that become part of an InvalidFleet
    +-- AlreadyReported    nobody: another check reports the same mistake

Any other exception that escapes is a bug. Nothing here logs or prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import ClassVar, TypeAlias

from tenantry.messages.redact import MAX_KEY, presentable

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The line breaks of libyaml."""


@lru_cache(maxsize=8)
def split(text: str) -> list[str]:
    """The lines of a text, which a file without problems needs not."""
    return LINE_BREAK.split(text)


MAX_PROBLEMS = 1000
"""How many problems one run reports. Nobody reads more, and a file can contain any number."""
Path: TypeAlias = tuple[str | int, ...]
"""The path of a value in the document: ("tenants", "rocky", "apps", "web", "clusters", "names", 1)."""


class _InText:
    """Stores a text outside the fields of a place in it, so that it is never printed or serialized with the place."""

    __slots__ = ("_text",)

    @property
    def text(self) -> str:
        """All of the text; "" if it is not known. It can contain secrets, so only `cli.problems` shows lines of it."""
        return getattr(self, "_text", "")


@dataclass(frozen=True, slots=True, order=True)
class Location(_InText):
    """A place in a text file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def within(self, text: str) -> Location:
        """The same place with its text."""
        place = Location(self.file, self.line, self.column)
        object.__setattr__(place, "_text", text)
        return place


class Severity(StrEnum):
    ERROR = "error"
    """It cannot work."""
    WARNING = "warning"
    """It works, but probably not as intended, or not for long."""


UNKNOWN_PLACEHOLDER = "unknown-placeholder"
"""The code of a problem that one place has in many environments or tenants. The first of them is reported."""
NOWHERE = Location("", 0, 0)
"""The place of what is in no file, such as the objects on a cluster, and of what has not been located yet."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, where, and what to do about it.

    path:  of the value in the document; a `ParsedFile` knows its line and column. Empty for what is in no document.
    code:  names the kind of problem, for programs.
    notes: facts that help to decide, such as the names that are declared.
    fix:   what to do, in the imperative.
    at_key: the key itself is the problem, not its value.
    meant: the path of a key that is missing, or that an unknown one probably stands for.
    """

    json_keys: ClassVar = ("location", "severity", "code", "message", "path", "notes", "fix")
    path: Path
    code: str
    message: str
    notes: tuple[str, ...] = ()
    fix: str = ""
    at_key: bool = False
    severity: Severity = Severity.ERROR
    location: Location = NOWHERE
    meant: Path = ()

    def below(self, *at: str | int) -> Problem:
        """The problem of a part that stands at a path."""
        return replace(self, path=(*at, *self.path))

    def at(self, location: Location) -> Problem:
        """The problem at its place in a file, ready to print: its texts are bounded and redacted.

        Two that say the same at one place are equal then, however each place was found.
        """
        return replace(
            self,
            path=tuple(presentable(part, MAX_KEY) if isinstance(part, str) else part for part in self.path),
            message=presentable(self.message),
            notes=tuple(map(presentable, self.notes)),
            fix=presentable(self.fix),
            at_key=False,
            location=location,
            meant=(),
        )


def error(code: str, message: str, fix: str) -> Problem:
    """A problem with something other than the author's file, such as the objects on a cluster."""
    return Problem((), code, message, fix=fix)


def warning(code: str, message: str, fix: str) -> Problem:
    """As `error`, for what works all the same."""
    return Problem((), code, message, fix=fix, severity=Severity.WARNING)


def sorted_once(diagnostics: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems without duplicates, sorted by place. All have been located by `Problem.at`, which redacts their texts."""
    located: dict[object, Problem] = {}
    for diagnostic in diagnostics:
        is_once = diagnostic.code == UNKNOWN_PLACEHOLDER
        located.setdefault((diagnostic.location, diagnostic.message) if is_once else diagnostic, diagnostic)
    assert NOWHERE not in {problem.location for problem in located.values()}, "a problem of a file has no place in it"
    return tuple(sorted(located.values(), key=lambda problem: (problem.location, problem.code, problem.message)))


class TenantryError(Exception):
    """The base of every error that is not a bug."""


class InvalidFleet(TenantryError):
    """The file is wrong. `diagnostics` are the problems that one run found, sorted by place.

    more: whether there were more than `MAX_PROBLEMS`. The others are dropped.
    """

    def __init__(self, diagnostics: Iterable[Problem]) -> None:
        unique = sorted_once(diagnostics)
        self.more = len(unique) > MAX_PROBLEMS
        self.diagnostics = unique[:MAX_PROBLEMS]
        super().__init__(f"{len(self.diagnostics)} problems")

    def quoting(self, text: str) -> InvalidFleet:
        """The same problems with their text. All of them are in this one."""
        places = (diagnostic.location.within(text) for diagnostic in self.diagnostics)
        self.diagnostics = tuple(
            replace(diagnostic, location=at) for diagnostic, at in zip(self.diagnostics, places, strict=True)
        )
        return self


NO_FILE, UNKNOWN_NAME, INVALID_BASE = "no-file", "unknown-name", "invalid-base"
UNREACHABLE, NOT_ALLOWED, NOT_POSSIBLE, USAGE = "unreachable", "not-allowed", "not-possible", "usage"
"""What a refusal is about, for programs. docs/output.md describes each."""


class Refused(TenantryError):
    """The command cannot do what was asked; `fix` says how to change the request, `code` what it is about."""

    def __init__(self, message: str, fix: str = "", *, code: str = NOT_POSSIBLE) -> None:
        self.message = presentable(message)
        self.fix = presentable(fix)
        self.code = code
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}\n  fix: {self.fix}" if self.fix else self.message


class NotConfined(Refused):
    """A mistake of the planner: a tenant would leave what the main file gives it. `escapes` says how; nothing may be applied."""

    def __init__(self, environment: str, escapes: tuple[str, ...]) -> None:
        self.escapes = escapes
        more = f", and {len(escapes) - 3} more" if len(escapes) > 3 else ""
        super().__init__(
            f"the plan of '{environment}' gives a tenant what the main file does not: {'; '.join(escapes[:3])}{more}",
            "do not apply it; this is a bug of Tenantry: report it with this message, and take the tenant's file out of 'include'",
        )


class RefusedChange(Refused):
    """The guard, or a check of the management cluster, does not allow what a run would do."""


class AllRefused(RefusedChange):
    """Several requests are refused, or one for several reasons. Each has its own fix."""

    def __init__(self, reasons: Iterable[Refused]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"{len(self.reasons)} reasons")

    def __str__(self) -> str:
        return "\n".join(map(str, self.reasons))


def first_of(findings: Iterable[Problem]) -> tuple[Problem, ...]:
    """At most one finding more than a run reports, which is enough to know that there are more."""
    return tuple(islice(findings, MAX_PROBLEMS + 1))


class InvalidPart(TenantryError):
    """A computation cannot go on because of these findings. The caller turns them into an `InvalidFleet`."""

    def __init__(self, findings: Iterable[Problem]) -> None:
        self.findings = tuple(findings)
        assert self.findings, "a computation gave up and did not say why"
        super().__init__(f"{len(self.findings)} findings")


class AlreadyReported(TenantryError):
    """A computation cannot go on because of something that another check of the same file reports.

    Its text is the part of the file that is missing or wrong. If no check reports it, this helps to find the bug.
    """


class Problems(list[Problem]):
    """The problems so far; skipped: the parts that were not computed because another check reports their problem."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped: list[str] = []


@contextmanager
def collecting(findings: Problems) -> Iterator[None]:
    """Collects what the body raises as `InvalidPart` or `AlreadyReported`, so that one wrong part does not stop the others."""
    try:
        yield
    except InvalidPart as invalid:
        findings += invalid.findings
    except AlreadyReported as reported:
        findings.skipped.append(str(reported))


def raise_invalid(findings: Iterable[Problem]) -> None:
    """Raise the findings, if there are any. Raises: InvalidPart."""
    if problems := tuple(findings):
        raise InvalidPart(problems)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise all problems as one refusal; do nothing if there are no problems. Raises: RefusedChange."""
    reasons = [RefusedChange(problem.message, problem.fix) for problem in problems]
    if reasons:
        raise reasons[0] if len(reasons) == 1 else AllRefused(reasons)
