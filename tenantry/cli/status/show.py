"""A report of a status for a person: the table, and a line about the apps that it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tenantry.cli.status.rows import grouped_rows, single_rows
from tenantry.cli.status.table import COLOURS, status_table
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, age, one_line
from tenantry.messages.text import counted

_MOST_OBJECTS = 20
"""More objects that are not as planned than this are counted on a terminal."""
_INDENT = "    "
_MOST_READY = 20
"""More rows of apps that are ready than this are counted instead of listed."""


def shown(report: StatusReport, console: Console, *, every: bool = False) -> RenderableType:
    """The apps, the objects that are not as planned, and how many are.

    A terminal gets equal rows as one; a pipe gets a line for each app and object, which programs can filter.
    """
    below = [*_objects(report, console, every=every), *_total(report)]
    return Group(*([_apps(report, console, every=every)] if report.apps else []), *below)


def _apps(report: StatusReport, console: Console, *, every: bool) -> RenderableType:
    if every or not console.is_terminal:
        return status_table(single_rows(report.apps, report.read_at), console)
    rows = grouped_rows(report.apps, report.read_at)
    trouble = [row for row in rows if row.readiness is not Readiness.READY]
    hidden = len(rows) - len(trouble)
    if hidden <= _MOST_READY:
        return status_table(rows, console)
    ready = sum(row.apps for row in rows) - sum(row.apps for row in trouble)
    closing = Text(f"{'and ' if trouble else ''}{counted(ready, 'app')} ready; --all lists them", style="dim")
    return Group(status_table(trouble, console), closing) if trouble else closing


def _objects(report: StatusReport, console: Console, *, every: bool) -> Iterator[Text]:
    width = max((len(each.readiness) for each in report.objects), default=0)
    most = len(report.objects) if every or not console.is_terminal else _MOST_OBJECTS
    for status in report.objects[:most]:
        name = f" ({status.name} on {status.planned.owner.cluster})" if status.name else ""
        since = f"  {age(status.since, report.read_at)}" if status.since else ""
        head, message = f"  {status.id}{name}", one_line(status.message)
        if console.is_terminal:
            wrapped = wrap(message, max(1, console.width - len(_INDENT)), break_on_hyphens=False)
            head, message = f"{head}{since}", "".join(f"\n{_INDENT}{line}" for line in wrapped)
        else:
            message = f": {message}" if message else ""
        yield Text.assemble((f"{status.readiness:<{width}}", COLOURS[status.readiness]), head, message)
    if (more := len(report.objects) - most) > 0:
        yield Text(f"and {counted(more, 'more object')} not as planned; --all lists them", style="dim")


def _total(report: StatusReport) -> Iterator[Text]:
    """44 objects as planned; 41 of 44 objects as planned"""
    total, good = counted(report.planned, "object"), report.as_planned
    if report.planned:
        yield Text(f"{total if good == report.planned else f'{good} of {total}'} as planned", style="dim")


def counts(found: Sequence[AppStatus]) -> str:
    """3 of 5 apps ready"""
    ready = sum(status.readiness is Readiness.READY for status in found)
    return f"{ready} of {counted(len(found), 'app')} ready"
