"""Tables that fit the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_UNBOUNDED = 10_000
_WIDEST = 8
"""No character takes more columns of a terminal; a tab takes the most."""


def fits(table: Table, console: Console) -> bool:
    """Whether no cell of the table has to be wrapped or cut."""
    if _WIDEST * _characters(table) <= console.width:  # as in a pipe; measuring takes as long as printing
        return True
    measured = console.measure(table, options=console.options.update(max_width=_UNBOUNDED))
    return measured.maximum <= console.width


def _characters(table: Table) -> int:
    """At least as many as the longest row could have."""
    cells = ([column.header, *column.cells] for column in table.columns)
    return sum(max(len(str(cell)) for cell in column) + 1 for column in cells)


def fitting(
    build: Callable[[Sequence[str]], Table], columns: Sequence[str], dispensable: Collection[str], console: Console
) -> Table:
    """The table without as many of the dispensable columns, in their order, as are necessary for the terminal."""
    table = build(columns)
    for heading in dispensable:
        if fits(table, console):
            break
        columns = [each for each in columns if each != heading]
        table = build(columns)
    return table
