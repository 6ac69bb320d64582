"""Tables of texts, as wide as their widest cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from click import style
from rich.cells import cell_len

Row = Mapping[str, str]
"""The cells by their headings."""
_GAP = "  "


def width_of(rows: Sequence[Row], headings: Sequence[str]) -> int:
    """Columns of a terminal that a table with these headings takes."""
    return sum(_widths(rows, headings)) + len(_GAP) * (len(headings) - 1)


def table(
    rows: Sequence[Row], headings: Sequence[str], painted: Callable[[str, str], str] = lambda _, cell: cell
) -> Iterator[str]:
    """The line of the headings, then one for each row. painted: a cell with its heading's colour; it may hold trailing spaces."""
    widths = _widths(rows, headings)

    def line(cells: Iterable[str], paint: Callable[[str, str], str]) -> str:
        padded = (f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(cells, widths, strict=True))
        return _GAP.join(paint(heading, cell) for heading, cell in zip(headings, padded, strict=True)).rstrip()

    yield style(line(headings, lambda _, cell: cell), bold=True)
    for row in rows:
        yield line((row[heading] for heading in headings), painted)


def _widths(rows: Sequence[Row], headings: Sequence[str]) -> list[int]:
    return [max(cell_len(heading), *(cell_len(row[heading]) for row in rows), 0) for heading in headings]
