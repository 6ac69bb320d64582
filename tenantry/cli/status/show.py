"""A report of a status for a person: the table, and a line about the apps that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tenantry.cli.status.rows import grouped_rows, single_rows
from tenantry.cli.status.table import status_table
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness
from tenantry.messages.text import counted

_MOST_READY = 20
"""More rows of apps that are ready than this are counted instead of listed."""


def shown(report: StatusReport, console: Console, *, every: bool = False) -> RenderableType:
    """The report. A terminal gets equal rows as one; a pipe gets a line for each app, which programs can filter."""
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


def counts(found: Sequence[AppStatus]) -> str:
    """3 of 5 apps ready"""
    ready = sum(status.readiness is Readiness.READY for status in found)
    return f"{ready} of {counted(len(found), 'app')} ready"
