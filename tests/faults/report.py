"""Results of tests/faults: each test records rows, a run keeps them as JSON, and two pages show them.

tests/faults/results.md has a table for each section, each with its own columns; docs/reliability.md has the counts.
Both pages mark the places with comments.

`python -m tests.faults.report DIRECTORY` writes the rows that a run left in a directory to both pages. A section that the run
did not touch stays as it is.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUMMARY, TABLES = HERE.parents[1] / "docs" / "reliability.md", HERE / "results.md"
_QUOTED = 160
"""Characters of an answer that a table shows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was tried, and what it came to.

    section: the table it belongs to, as its markers call it. cells: text by heading, the same headings in all rows of a
    section. seconds: until the answer was there.
    """

    section: str
    cells: dict[str, str]
    seconds: float
    verdict: str


@dataclass(slots=True)
class Results:
    """The rows of a run, in the order in which they came."""

    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        self.rows.append(row)

    @contextmanager
    def timed(self, section: str, cells: dict[str, str], verdict: str) -> Iterator[None]:
        """Adds a row with the seconds of what is done in it, if that goes well."""
        started = time.monotonic()
        yield
        self.add(Row(section, cells, time.monotonic() - started, verdict))

    def write(self, directory: Path, process: str = "all") -> None:
        """A file for each section; process: which of the processes that run tests has these rows."""
        directory.mkdir(parents=True, exist_ok=True)
        for section in dict.fromkeys(row.section for row in self.rows):
            rows = [asdict(row) for row in self.rows if row.section == section]
            (directory / f"{section}.{process}.json").write_text(json.dumps(rows, indent=1) + "\n")


def read(directory: Path) -> dict[str, list[Row]]:
    """The rows of each section that the processes of a run left."""
    found: dict[str, list[Row]] = {}
    for path in sorted(directory.glob("*.json")):
        section = path.name.partition(".")[0]
        found.setdefault(section, []).extend(Row(**row) for row in json.loads(path.read_text()))
    return found


def table(rows: Iterable[Row]) -> str:
    """A Markdown table, after a line that counts. Raises: ValueError: the rows have not all the same columns."""
    rows = tuple(rows)
    headings = (*_columns(rows), "seconds", "verdict")
    lines = [_line(headings), _line("---" for _ in headings), *(_line(_cells(row)) for row in rows)]
    return "\n".join([f"{counts(rows)}.", "", *lines])


def counts(rows: Iterable[Row]) -> str:
    """How many things were tried, and how many of them led to each verdict."""
    verdicts = Counter(row.verdict for row in rows)
    return f"{verdicts.total()} tried: {', '.join(f'{number} {verdict}' for verdict, number in verdicts.items())}"


def clipped(text: str) -> str:
    """A long answer, short enough for a table."""
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def with_section(page: str, section: str, content: str) -> str:
    """The page with new content between a section's markers. Raises: ValueError: it has no such markers."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page has no markers {begin} and {end}")
    return pattern.sub(lambda _: f"{begin}{content}{end}", page)


def _columns(rows: tuple[Row, ...]) -> tuple[str, ...]:
    """The headings that all rows have, in their order."""
    (columns, *others) = dict.fromkeys(tuple(row.cells) for row in rows)
    if others:
        raise ValueError(f"rows of section {rows[0].section} have the columns {columns} and {others[0]}")
    return columns


def _cells(row: Row) -> Iterator[str]:
    yield from (*row.cells.values(), f"{row.seconds:.1f}", row.verdict)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"


def main(directory: str, summary: Path = SUMMARY, tables: Path = TABLES) -> None:
    for section, rows in read(Path(directory)).items():
        _replace(summary, section, counts(rows))
        _replace(tables, section, f"\n{table(rows)}\n")


def _replace(page: Path, section: str, content: str) -> None:
    page.write_text(with_section(page.read_text(encoding="utf-8"), section, content), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
