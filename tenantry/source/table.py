"""A CSV file: its rows as text, and the place of every cell.

RFC 4180 as Python's `csv` reads it: commas, quotes, a header. A cell is text, also one that a spreadsheet takes for a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from tenantry.messages.errors import InvalidFleet, Lines, Location, Problem
from tenantry.messages.redact import shorten
from tenantry.messages.text import listed
from tenantry.source.bounds import MAX_NODES
from tenantry.source.parse import MAX_BYTES, Reader, decoded
from tenantry.source.parsed_file import invalid

NAME = "name"
MOST_COLUMNS = 500
"""The most columns of a table. Each is a placeholder, and a row is one tenant or cluster."""
_COLUMN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029\ufeff\ufffe\uffff]")
"""What no text of a fleet holds."""
_HEADER = "write a header whose first column is 'name', such as 'name,plan,seats'"


@dataclass(frozen=True, slots=True)
class Row:
    """number: as a spreadsheet counts, the header being row 1. line: where it begins. cells: by column, without `name`."""

    number: int
    line: int
    name: str
    cells: dict[str, str]


class Table:
    """The rows of a CSV file by their names."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lines = Lines(text)
        self.columns: tuple[str, ...] = ()
        self.rows: dict[str, Row] = {}
        self._text = text
        self._starts: list[int] | None = None

    def place(self, row: Row | None, column: str = NAME) -> Location:
        """Where a cell is. row: None for the header."""
        index = self.columns.index(column) if column in self.columns else 0
        line, offset = self._cell(row.line if row else 1, index)
        return Location(self.file, line, offset).within(self.lines)

    def _cell(self, line: int, index: int) -> tuple[int, int]:
        """The line and column of a cell, by its row's first line and its number in the row."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self._text))]
        at = start = self._starts[line - 1]
        quoted = False
        while index and at < len(self._text):
            sign = self._text[at]
            at += 1
            if sign == '"':
                quoted = not quoted
            elif sign == "," and not quoted:
                index -= 1
            elif sign in "\r\n" and quoted and self._text[at - 1 : at + 1] != "\r\n":
                line, start = line + 1, at
        return line, at - start + 1


def read_table(file: FilePath, reader: Reader) -> Table:
    """Raises: Refused: the file cannot be read; InvalidFleet: it is no table with a header, in UTF-8."""
    raw, name = reader(file), str(file)
    if len(raw) > MAX_BYTES:
        raise invalid(Location(name, 1, 1), "too-large", f"the file exceeds {MAX_BYTES} bytes")
    text = decoded(raw, name)
    table = Table(name, text)
    try:
        _fill(table, text)
    except InvalidFleet as error:
        raise error.quoting(table.lines) from None
    return table


def _fill(table: Table, text: str) -> None:
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        message = f"there is the control character U+{ord(found[0]):04X}"
        raise invalid(Location(table.file, line, 1), "bad-character", message, "save the file as CSV in UTF-8")
    records = _records(table, text)
    header = next(records, None)
    if header is None:
        raise invalid(Location(table.file, 1, 1), "empty-file", "the file is empty", _HEADER)
    table.columns = tuple(header[1])
    if problems := list(_of_header(table)):
        raise InvalidFleet(problems)
    cells = 0
    problems = []
    for number, (line, record) in enumerate(records, 2):
        cells += len(record)
        if cells > MAX_NODES:
            message = f"there are more than {MAX_NODES} cells"
            raise invalid(Location(table.file, line, 1), "too-large", message)
        if not any(record) and len(record) < 2:
            continue  # an empty line
        problems += _of_record(table, number, line, record)
    if problems:
        raise InvalidFleet(problems)


def _records(table: Table, text: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line where it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for record in reader:
            yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        if str(error).startswith("field larger"):
            message = f"a cell of this row has more than {csv.field_size_limit()} characters"
            fix = "shorten it; if it is not that long, close the quote that begins it"
            raise invalid(Location(table.file, line, 1), "too-large", message, fix) from None
        fix = 'put a cell with a comma, a quote or a line break into quotes, and write "" for a quote in it'
        raise invalid(Location(table.file, line, 1), "bad-csv", f"this row is not CSV: {error}", fix) from None


def _of_header(table: Table) -> Iterator[Problem]:
    columns = table.columns
    place = Location(table.file, 1, 1).within(table.lines)
    for sign, words in ((";", "semicolons"), ("\t", "tabs")):
        if len(columns) == 1 and sign in columns[0]:
            fix = "separate them by commas: in a spreadsheet, save the file as 'CSV UTF-8 (comma delimited)'"
            yield Problem((), "bad-header", f"the columns are separated by {words}", fix=fix).at(place)
            return
    if len(columns) > MOST_COLUMNS:
        message = f"there are {len(columns):,} columns, and a table has at most {MOST_COLUMNS}"
        yield Problem((), "too-large", message, fix="remove the columns that no entry uses").at(place)
        return
    if columns[:1] != (NAME,):
        first = f"the first column is '{shorten(columns[0])}'" if columns else "there is no column"
        yield Problem((), "bad-header", f"{first}, not 'name'", fix=_HEADER).at(place)
    for index, column in enumerate(columns):
        at = table.place(None, column)
        if columns.index(column) < index:
            message = f"column '{shorten(column)}' is there twice"
            yield Problem((), "bad-header", message, fix="rename or remove one of them").at(at)
        elif not _COLUMN.fullmatch(column):
            message = f"'{shorten(column)}' is not a valid name of a column"
            fix = "write letters, digits and '_', beginning with a letter: a column is a placeholder"
            yield Problem((), "bad-header", message, fix=fix).at(at)


def _of_record(table: Table, number: int, line: int, record: list[str]) -> Iterator[Problem]:
    row = Row(number, line, record[0], dict(zip(table.columns[1:], record[1:], strict=False)))
    place = table.place(row)
    if len(record) != len(table.columns):
        message = f"row {number} has {len(record)} cells, and the header has {len(table.columns)}"
        notes = (f"columns: {listed(table.columns, 20)}",)
        yield Problem((), "bad-row", message, notes, "write a comma for each empty cell").at(place)
    elif not row.name:
        yield Problem((), "bad-row", f"row {number} has no name", fix="write one, or remove the row").at(place)
    elif first := table.rows.get(row.name):
        message = f"'{shorten(row.name)}' is in row {number} and in row {first.number}"
        yield Problem((), "duplicate-row", message, fix="rename or remove one of them").at(place)
    else:
        table.rows[row.name] = row
