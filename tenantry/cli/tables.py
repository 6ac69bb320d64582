"""Tables that fit the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_UNBOUNDED = 10_000


def fits(table: Table, console: Console) -> bool:
    """Whether no cell of the table has to be wrapped or cut."""
    measured = console.measure(table, options=console.options.update(max_width=_UNBOUNDED))
    return measured.maximum <= console.width


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
