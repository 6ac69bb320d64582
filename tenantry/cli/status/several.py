"""The answer of `tenantry status`. Each environment is read by itself, so that one that does not answer hides no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.text import Text

from tenantry.cli.output import data_json, error, say, stdout_console
from tenantry.cli.status.formats import status_document
from tenantry.cli.status.table import shown
from tenantry.cluster.report import StatusReport
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import counted
from tenantry.model.scalars import share_of


class Shown(NamedTuple):
    """What is shown of an environment. off: how much is not as planned, also what is not shown; total: of how much."""

    report: StatusReport
    off: int = 0
    total: int = 0


def verdict(found: Sequence[Shown], tolerate: int | str | None) -> int:
    """The exit code: 0 if no more is off than is tolerated, in all environments together."""
    off, total = sum(each.off for each in found), sum(each.total for each in found)
    most = 0 if tolerate is None else share_of(tolerate, total)
    if tolerate is not None:
        say(f"{off} of {counted(total, 'object')} are not as planned or not ready; --tolerate {tolerate} allows {most}")
    return int(off > most)


Failures = Sequence[tuple[str, Refused]]
"""The environments that could not be read, and why."""


def read_each(environments: Iterable[str], read: Callable[[str], Shown]) -> tuple[list[Shown], Failures]:
    """Every environment that can be read; one that has no such tenant, app or cluster is left out.

    Raises: Refused: none can be read.
    """
    found: list[Shown] = []
    failures: list[tuple[str, Refused]] = []
    for name in environments:
        try:
            found.append(read(name))
        except Refused as failure:
            failures.append((name, failure))
    if not found:
        raise failures[0][1]
    return found, [each for each in failures if each[1].code != UNKNOWN_NAME]


def show(
    found: Sequence[Shown],
    output: str = "text",
    failures: Failures = (),
    *,
    every: bool = False,
    named: bool = False,
) -> None:
    """Print the reports; what a person has to do, and what could not be read, follow on stderr.

    named: whether texts say which environment they are about.
    """
    reports = [each.report for each in found]
    if output == "json":
        data_json(status_document(reports, failures))
    else:
        console = stdout_console()
        for at, report in enumerate(reports):
            if named:
                console.print(Text(f"{chr(10) if at else ''}{report.environment}", style="bold"))
            if named or report.apps or report.objects or report.planned:
                console.print(shown(report, console, every=every))
    for report in reports:
        if report.left_out:
            say(f"{report.environment}: {report.left_out}" if named else report.left_out)
        for message in report.messages():
            say(message)
    for name, failure in failures:
        error(f"environment '{name}' cannot be read: {failure}")
