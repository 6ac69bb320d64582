"""Rows of CSV files as tenants and clusters: `each` of an entry of `include`, with the cells of a row filled in.

Every column is a placeholder in `each`. A column that `each` does not name is a variable of the tenant or cluster. A variable
has the type of the default that the classes, the groups or `defaults` give it; without one it is text. An empty cell says
nothing: a key or an entry of a list that is nothing but an empty cell falls away. A cell is filled in once, so one that stands
for a text of `each` holds no placeholder.

Called by: `include`, on plain data. So nothing here may rely on the type of a value of the main file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.messages.data import mapping_at, texts_in
from tenantry.messages.errors import MAX_PROBLEMS, Location, Path, Problem
from tenantry.messages.placeholders import TOKEN, Scalar, all_names_in, names_in
from tenantry.messages.redact import shorten
from tenantry.messages.text import closest, declared
from tenantry.source.bounds import MAX_NODES
from tenantry.source.parse import MAX_BYTES
from tenantry.source.parsed_file import ParsedFile
from tenantry.source.table import NAME, Row, Table

_TENANTS = "tenants"
VARIABLES = "variables"
_GONE = object()
"""What is nothing but empty cells."""
_WHOLE = re.compile(r"\{([^{}]*)\}")
_INTEGER, _DECIMAL = re.compile(r"[-+]?[0-9]{1,15}"), re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]{1,15})?")


class RowsFile(ParsedFile):
    """A CSV file whose rows stand for entries. Its places are cells."""

    def __init__(self, main: ParsedFile, table: Table, kind: str, each: Any, at: Path) -> None:
        """Args: kind: `tenants` or `clusters`; each: the entry of a row, with placeholders; at: its place in the main file."""
        super().__init__(table.file, main._root, {}, table.lines)
        self.main, self.table, self.kind = main, table, kind
        self.each: dict[str, Any] = each if isinstance(each, dict) else {}
        self.at = at
        used = set(all_names_in(self.each))
        self.variables = [column for column in table.columns[1:] if column not in used]
        self.data = {kind: {}}

    def _place(self, path: Path, *, key: bool) -> Location:
        written = self.written_at(path)
        if isinstance(written, tuple):
            return self.main.locate(written, key=key)
        return self.table.place(self.table.rows.get(str(path[1])) if len(path) > 1 else None, written)

    def cell_of(self, path: Path) -> str:
        """Such as: row 17, column seats."""
        row = self.table.rows.get(str(path[1])) if len(path) > 1 else None
        return f"row {row.number}, column {self._column(path)}" if row else ""

    def _column(self, path: Path) -> str:
        written = self.written_at(path)
        return NAME if isinstance(written, tuple) else written

    def written_at(self, path: Path) -> str | Path:
        """The column that decides the value at a path of an entry, or where `each` writes one value for all rows."""
        below = path[2:]
        if not below:
            return NAME
        if len(below) > 1 and below[0] == VARIABLES and below[1] in self.variables:
            return str(below[1])
        row = self.table.rows.get(str(path[1])) if len(path) > 1 else None
        found: Any = self.each
        at: Path = self.at
        for part in below:
            index: str | int
            if isinstance(found, list) and isinstance(part, int) and row:
                left = [(index, each) for index, each in enumerate(found) if not _falls_away(each, row)]
                index, found = left[part] if part < len(left) else (0, None)
            else:
                index, found = part, found.get(part) if isinstance(found, dict) else None
            if found is None:
                break
            at = (*at, index)
        names = [name for name in dict.fromkeys(all_names_in(found)) if name in self.table.columns]
        return at if not names and len(at) > len(self.at) else (*names, NAME)[0]


def _falls_away(entry: Any, row: Row) -> bool:
    """Whether an entry of a list is nothing but an empty cell."""
    whole = _WHOLE.fullmatch(entry) if isinstance(entry, str) else None
    return whole is not None and row.cells.get(whole[1]) == ""


@dataclass(slots=True)
class Expansion:
    """entries: by name. problems: located."""

    entries: dict[str, dict[str, Any]]
    problems: list[Problem]


class _TooMuch(Exception):
    """The filled entries are larger than a file may be."""


@dataclass(slots=True)
class Allowance:
    """How much all rows of a fleet may become: a few cells can stand in `each` any number of times."""

    characters: int = MAX_BYTES
    values: int = MAX_NODES

    def take(self, *, characters: int = 0, values: int = 0) -> None:
        self.characters -= characters
        self.values -= values
        if self.characters < 0 or self.values < 0:
            raise _TooMuch


def expanded(file: RowsFile, allowance: Allowance) -> Expansion:
    """The entries of a file's rows. Their variables have the types of their defaults."""
    found = Expansion({}, list(_unknown(file)))
    if found.problems:
        return found
    types, filling = _Types(file), _Filling(file, found.problems, allowance)
    for name, row in file.table.rows.items():
        try:
            entry = filling.filled(file.each, row, (file.kind, name))
        except _TooMuch:
            message = f"the rows of all files become more than {MAX_BYTES} characters or {MAX_NODES} values"
            problem = Problem(file.at, "too-large", message, fix="let a class or a group say what rows have in common")
            found.problems.append(problem.at(file.main.locate(file.at)))
            break
        entry = {} if entry is _GONE else entry
        given = {column: row.cells[column] for column in file.variables if row.cells[column]}
        if given:
            own = entry.get(VARIABLES)
            entry[VARIABLES] = {**given, **(own if isinstance(own, dict) else {})}
        if isinstance(entry.get(VARIABLES), dict):
            entry[VARIABLES] = types.typed(name, entry, row, found.problems)
        found.entries[name] = entry
        if len(found.problems) > MAX_PROBLEMS:
            break
    file.data[file.kind] = found.entries
    return found


def _unknown(file: RowsFile) -> Iterator[Problem]:
    """Placeholders of `each` that are no columns."""
    for path, name in ((at, name) for at, text in texts_in(file.each, file.at) for name in names_in(text)):
        if name not in file.table.columns:
            near = closest(name, file.table.columns)
            note = declared("columns", name, file.table.columns)
            fix = f"write '{{{near}}}'" if near else "correct the name, or add the column"
            message = f"{file.file} has no column '{shorten(name)}'"
            fix = f"{fix}; write '{{{{{shorten(name)}}}}}' for a placeholder that is filled in later"
            yield Problem(path, "unknown-column", message, (note,), fix).at(file.main.locate(path))


class _Filling:
    """Fills the cells of rows into `each`."""

    def __init__(self, file: RowsFile, problems: list[Problem], allowance: Allowance) -> None:
        self.file, self.problems, self.allowance = file, problems, allowance

    def filled(self, value: Any, row: Row, at: Path) -> Any:
        self.allowance.take(values=1)
        if isinstance(value, str):
            return self._text(value, row, at)
        if isinstance(value, dict):
            pairs = {key: self.filled(each, row, (*at, key)) for key, each in value.items()}
            kept: Any = {key: each for key, each in pairs.items() if each is not _GONE}
            return kept if kept or not value else _GONE
        if isinstance(value, list):
            items = [self.filled(each, row, (*at, index)) for index, each in enumerate(value)]
            left = [each for each in items if each is not _GONE]
            return left if left or not value else _GONE
        return value

    def _text(self, text: str, row: Row, at: Path) -> Any:
        if "{" not in text and "}" not in text:
            return text
        if (whole := _WHOLE.fullmatch(text)) and whole[1] != NAME:
            return self._cell(whole[1], row, at) or _GONE

        def replace(match: re.Match[str]) -> str:
            token = match.group()
            if token in ("{{", "}}"):
                return token[0]
            if match[1] is None:
                return token
            if cell := self._cell(match[1], row, at):
                return cell
            message = f"column '{match[1]}' of row {row.number} is empty, and a part of the text '{shorten(text)}'"
            fix = "fill the cell, or make the placeholder the whole text, so that an empty cell says nothing"
            self._problem(row, match[1], at, "empty-cell", message, fix)
            return ""

        return TOKEN.sub(replace, text)

    def _cell(self, column: str, row: Row, at: Path) -> str:
        cell = row.name if column == NAME else row.cells[column]
        self.allowance.take(characters=len(cell))
        if "{" in cell or "}" in cell:
            message = f"column '{column}' of row {row.number} holds braces, and a cell in 'each' is filled in once"
            variable = f"make it a variable: take '{{{column}}}' out of 'each', and write it in a class or a group"
            self._problem(row, column, at, "bad-cell", message, f"remove the braces, or {variable}")
            return "x"
        return cell

    def _problem(self, row: Row, column: str, at: Path, code: str, message: str, fix: str) -> None:
        if len(self.problems) <= MAX_PROBLEMS:
            self.problems.append(Problem(at, code, message, fix=fix).at(self.file.table.place(row, column)))


class _Types:
    """Gives variables the types of their defaults."""

    def __init__(self, file: RowsFile) -> None:
        self.file = file
        self._defaults: dict[tuple[str, ...], dict[str, Any]] = {}

    def typed(self, name: str, entry: dict[str, Any], row: Row, problems: list[Problem]) -> dict[str, Any]:
        key = "class" if self.file.kind == _TENANTS else "group"
        own = mapping_at(self.file.main.data, self.file.kind, name)
        above = _texts(own.get(key)) or _texts(entry.get(key))
        defaults = self._of(above)
        given = {}
        for variable, value in entry[VARIABLES].items():
            kept = _as(value, defaults.get(variable)) if isinstance(value, str) else value
            if kept is None:
                what = "true or false" if isinstance(defaults[variable], bool) else "a number"
                message = f"column '{variable}' of row {row.number} is not {what}"
                notes = (f"variable '{variable}' has {what} as its default",)
                at = (self.file.kind, name, VARIABLES, variable)
                place = self.file.table.place(row, self.file._column(at))
                fix = "correct the cell, or leave it empty for the default"
                problems.append(Problem(at, "bad-cell", message, notes, fix).at(place))
            else:
                given[variable] = kept
        return given

    def _of(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The defaults of variables that come with classes or groups."""
        if names not in self._defaults:
            group = "tenantClasses" if self.file.kind == _TENANTS else "clusterGroups"
            key = "class" if self.file.kind == _TENANTS else "group"
            base = mapping_at(self.file.main.data, "defaults", VARIABLES) if self.file.kind == _TENANTS else {}
            found = dict(base)
            for name in _lineage(mapping_at(self.file.main.data, group), names, key):
                found.update(mapping_at(self.file.main.data, group, name, VARIABLES))
            self._defaults[names] = found
        return self._defaults[names]


def _lineage(declared: Mapping[str, Any], names: tuple[str, ...], key: str) -> list[str]:
    """The names and all above them, parents first."""
    found: list[str] = []
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in open_ or name in found:
            return
        open_.add(name)
        for parent in _texts(mapping_at(declared, name).get(key)):
            visit(parent)
        found.append(name)

    for name in names:
        visit(name)
    return found


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(each for each in values if isinstance(each, str))


def _as(cell: str, default: Any) -> Scalar | None:
    """A cell in the type of a default; None: it does not have that type."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(cell.lower())
    if isinstance(default, int | float):
        if _INTEGER.fullmatch(cell):
            return int(cell)
        return float(cell) if _DECIMAL.fullmatch(cell) else None
    return cell
