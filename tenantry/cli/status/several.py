"""The answer of `tenantry status`. Each environment is read by itself, so that one that does not answer hides no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.text import Text

from tenantry.cli.output import data, data_json, error, say, stdout_console
from tenantry.cli.page.status_map import reading
from tenantry.cli.page.status_page import as_page
from tenantry.cli.status.formats import metrics, status_document
from tenantry.cli.status.table import shown
from tenantry.cluster.report import StatusReport
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.plan.plan import Plan


class Shown(NamedTuple):
    """What is shown of an environment. ready: whether everything is, also what is not shown."""

    report: StatusReport
    planned: Plan
    ready: bool = True


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
    fleet: Fleet | None,
    output: str = "text",
    failures: Failures = (),
    *,
    every: bool = False,
    named: bool = False,
) -> None:
    """Print the reports; what a person has to do, and what could not be read, follow on stderr.

    fleet: None: it is not known, so there is no page. named: whether texts say which environment they are about.
    """
    reports = [each.report for each in found]
    match output:
        case "json":
            data_json(status_document(reports, failures))
        case "prometheus":
            data(metrics(reports).rstrip("\n"))
        case "html" if fleet:
            data(as_page([reading(each.report, each.planned, fleet) for each in found], failures))
        case _:
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
