"""The table of `tenantry status`. Its messages stay readable on narrow terminals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tenantry.cli.status.rows import Row
from tenantry.cli.tables import fits, fitting
from tenantry.cluster.status import Readiness
from tenantry.cluster.webhooks import Webhook
from tenantry.kube.names import PLATFORM

COLOURS = {
    Readiness.READY: "green",
    Readiness.PROGRESSING: "yellow",
    Readiness.SUSPENDED: "blue",
    Readiness.FAILED: "red",
    Readiness.MISSING: "red",
}
_COLUMNS = ("TENANT", "CLUSTER", "APP", "KIND", "STATUS", "AGE", "REVISION")
_MESSAGE = "MESSAGE"
_DISPENSABLE = ("KIND", "AGE", "REVISION")
"""Columns that are omitted on a narrow terminal, in this order, so that no name is cut."""


def status_table(rows: Sequence[Row], console: Console) -> RenderableType:
    """The table. Messages are in a column if each fits on one line of the terminal, otherwise below their rows.

    If stdout is not a terminal, messages are always in a column, so that each row is one line.
    """
    messages = any(row.message for row in rows)
    whole = _table(rows, (*_COLUMNS, _MESSAGE) if messages else _COLUMNS)
    if not console.is_terminal or fits(whole, console):
        return whole
    table = fitting(partial(_table, rows), _COLUMNS, _DISPENSABLE, console)
    return _MessagesBelow(table, [Text(row.message) for row in rows])


def webhook_table(found: Sequence[Webhook]) -> Table:
    """One line for each receiver; its path, or why it has none."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("TENANT", "CLUSTER", "RECEIVER", "STATUS"):
        table.add_column(heading, no_wrap=True)
    table.add_column("WEBHOOK", overflow="fold")
    for each in found:
        name, state = f"{each.id.namespace}/{each.id.name}", Text(each.readiness, style=COLOURS[each.readiness])
        table.add_row(each.tenant or f"({PLATFORM})", each.cluster, name, state, Text(each.path or each.message))
    return table


class _MessagesBelow:
    """A table with one line for each row, and the message below it."""

    def __init__(self, table: Table, messages: list[Text]) -> None:
        self._table = table
        self._messages = messages

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        header, *rows = console.render_lines(self._table, options, pad=False)
        yield from (*header, Segment.line())
        for row, message in zip(rows, self._messages, strict=True):
            yield from (*row, Segment.line())
            if message:
                yield Padding(message, (0, 0, 0, 4))


def _table(rows: Sequence[Row], columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in columns:
        if heading == _MESSAGE:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, no_wrap=True)
    for row in rows:
        cells = _cells(row)
        table.add_row(*(cells[heading] for heading in columns))
    return table


def _cells(row: Row) -> dict[str, Text]:
    return {
        "TENANT": Text(row.tenant),
        "CLUSTER": Text(row.cluster),
        "APP": Text(row.app),
        "KIND": Text(row.kind),
        "STATUS": Text(row.readiness, style=COLOURS[row.readiness]),
        "AGE": Text(row.age),
        "REVISION": Text(row.revision),
        _MESSAGE: Text(row.message),
    }
