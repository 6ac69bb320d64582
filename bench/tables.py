"""What a case of the benchmark found, as tables that are printed, kept as JSON and shown in docs/performance.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BUDGET = "budget"
"""The heading of the seconds that a row may take at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one command or program.

    seconds: wall clock; None: all figures are in `more`. processor: seconds of all its processes together; None: not
    measured. memory: the peak of its largest process in MB; None: not measured. more: other figures by the heading of their column.
    """

    name: str
    seconds: float | None = None
    processor: float | None = None
    memory: int | None = None
    more: Mapping[str, float | str] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that were measured side by side.

    id: unique among all tables. about: how it was measured, in Markdown. floor: the row that the others are compared with;
    "": none. by: which figure is compared, `seconds` or `processor`.
    """

    id: str
    title: str
    about: str
    rows: tuple[Row, ...]
    floor: str = ""
    by: str = "seconds"

    def headings(self) -> list[str]:
        return list(self._columns())

    def cells(self) -> Iterator[list[str]]:
        """A list for each row, in the order of the headings; the first cell is its name."""
        for row in self.rows:
            yield [column(row) for column in self._columns().values()]

    def ratio(self, row: Row) -> float | None:
        """The row's figure, divided by the floor's."""
        floor = next((each for each in self.rows if each.name == self.floor), None)
        ours, unit = getattr(row, self.by), getattr(floor, self.by, None)
        return ours / unit if unit and ours is not None else None

    def over_budget(self) -> list[Row]:
        """The rows that took longer than they may."""
        return [row for row in self.rows if (row.seconds or 0.0) > float((row.more or {}).get(BUDGET, float("inf")))]

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"": lambda row: row.name}
        if any(each.seconds is not None for each in self.rows):
            columns["seconds"] = lambda row: number(row.seconds)
        if any(each.processor is not None for each in self.rows):
            columns["processor"] = lambda row: number(row.processor)
        if any(each.memory is not None for each in self.rows):
            columns["MB"] = lambda row: number(row.memory)
        for heading in dict.fromkeys(key for each in self.rows for key in each.more or ()):
            columns[heading] = lambda row, heading=heading: number((row.more or {}).get(heading))
        if self.floor:
            columns["ratio"] = lambda row: f"{ratio:.2f}" if (ratio := self.ratio(row)) is not None else ""
        return columns


def number(value: float | str | None) -> str:
    """A figure with three digits or its whole part, as a reader wants it: 0.052, 1.23, 45.6, 1234."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.1 else f"{value:.3f}"


def as_text(table: Table) -> str:
    """The table for a terminal: names on the left, figures on the right."""
    lines = [table.headings(), *table.cells()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = (_line(cells, widths) for cells in lines)
    return "\n".join([table.title, *rows])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()


def as_data(table: Table) -> dict[str, Any]:
    """The table as plain data, which `from_data` reads."""
    rows = [
        {
            key: value
            for key in ("name", "seconds", "processor", "memory", "more")
            if (value := _rounded(getattr(row, key))) is not None
        }
        for row in table.rows
    ]
    facts = {"id": table.id, "title": table.title, "about": table.about, "floor": table.floor, "by": table.by}
    return {**{key: value for key, value in facts.items() if value}, "rows": rows}


def from_data(data: Mapping[str, Any]) -> Table:
    """Raises: TypeError: the data has other keys."""
    return Table(**{**data, "rows": tuple(Row(**row) for row in data["rows"])})


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()} or None
    return round(value, 4) if isinstance(value, float) else value
