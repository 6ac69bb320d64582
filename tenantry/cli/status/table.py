"""The table of `tenantry status`. Its messages stay readable on narrow terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tenantry.cli.status.rows import Row
from tenantry.cluster.report import Webhook
from tenantry.cluster.status import Readiness
from tenantry.kube.names import PLATFORM

COLOURS = {
    Readiness.READY: "green",
    Readiness.PROGRESSING: "yellow",
    Readiness.SUSPENDED: "blue",
    Readiness.FAILED: "red",
    Readiness.MISSING: "red",
    Readiness.CHANGED: "magenta",
    Readiness.OUTDATED: "yellow",
}
_COLUMNS = ("TENANT", "CLUSTER", "APP", "KIND", "WAVE", "STATUS", "AGE", "REVISION")
_MESSAGE = "MESSAGE"
_CELLS: Mapping[str, Callable[[Row], str]] = {
    "TENANT": lambda row: row.tenant,
    "CLUSTER": lambda row: row.cluster,
    "APP": lambda row: row.app,
    "KIND": lambda row: row.kind,
    "WAVE": lambda row: row.wave,
    "STATUS": lambda row: row.readiness.value,
    "AGE": lambda row: row.age,
    "REVISION": lambda row: row.revision,
    _MESSAGE: lambda row: row.message,
}
_GAP, _INDENT = "  ", "    "
_DISPENSABLE = ("KIND", "AGE", "REVISION", "WAVE")
"""Columns that are omitted on a narrow terminal, in this order, so that no name is cut."""


def status_table(rows: Sequence[Row], console: Console) -> Lines:
    """The table. Messages are in a column if each fits on one line of the terminal, otherwise below their rows.

    If stdout is not a terminal, messages are always in a column, so that each row is one line.
    """
    messages = any(row.message for row in rows)
    columns = _COLUMNS if any(row.wave for row in rows) else tuple(each for each in _COLUMNS if each != "WAVE")
    whole = Lines(rows, (*columns, _MESSAGE) if messages else columns)
    if not console.is_terminal or whole.width <= console.width:
        return whole
    table = Lines(rows, columns, below=True)
    for count in range(1, len(_DISPENSABLE) + 1):
        if table.width <= console.width:
            break
        table = Lines(rows, [each for each in columns if each not in _DISPENSABLE[:count]], below=True)
    return table


class Lines:
    """A line for each row. Rich's own tables take milliseconds for each row, and there can be ten thousand.

    below: whether the message of a row is below it. width: of the widest line, messages below not counted.
    """

    def __init__(self, rows: Sequence[Row], columns: Sequence[str], *, below: bool = False) -> None:
        self._rows, self._columns, self._below = rows, columns, below
        self._cells = [tuple(_CELLS[heading](row) for heading in columns) for row in rows]
        everything = [tuple(columns), *self._cells]
        self._widths = [max(map(cell_len, cells)) for cells in zip(*everything, strict=True)]
        self.width = sum(self._widths) + len(_GAP) * (len(columns) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        status = self._columns.index("STATUS")
        yield Segment(_GAP.join(self._padded(self._columns)).rstrip() + "\n", Style(bold=True))
        for row, cells in zip(self._rows, self._cells, strict=True):
            padded = self._padded(cells)
            yield Segment("".join(f"{cell}{_GAP}" for cell in padded[:status]))
            yield Segment(padded[status], Style.parse(COLOURS[row.readiness]))
            yield Segment("".join(f"{_GAP}{cell}" for cell in padded[status + 1 :]).rstrip() + "\n")
            if self._below and row.message:
                width = max(1, options.max_width - len(_INDENT))
                wrapped = wrap(row.message, width, break_on_hyphens=False)
                yield Segment("".join(f"{_INDENT}{line}\n" for line in wrapped))

    def _padded(self, cells: Sequence[str]) -> list[str]:
        return [f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(cells, self._widths, strict=True)]


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
