"""Tenants and clusters from several files: `include:` names more files, so that each team can own its own.

A file with tenants may speak of certain tenants only: those in `of`, else the one that it is named after. What it may say is
decided in `grants.frames`. A file with clusters belongs to the platform, and adds clusters to those of the main file. A file for
an environment, an overlay, says what differs there: `fleet.overlays`. Problems in one file are collected, and do not prevent
checks of the main file or the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path as FilePath
from typing import Any

from tenantry.messages.errors import InvalidFleet, Path, Problem, Refused, Severity
from tenantry.messages.redact import shorten
from tenantry.messages.text import listed
from tenantry.source.globbing import TooManyFiles, has_wildcard, matching
from tenantry.source.parse import MAX_BYTES, Form, Reader, bytes_of, read
from tenantry.source.parsed_file import Fill, ParsedFile, Written, named_classes
from tenantry.source.rows import Allowance, RowsFile, expanded
from tenantry.source.table import read_table

_TENANTS, _CLUSTERS, _ENVIRONMENT = "tenants", "clusters", "environment"
_FORMS = {
    kind: Form(f"the key '{kind}:'", f"start with '{kind}:', or remove the file") for kind in (_TENANTS, _CLUSTERS)
}
_FORMS[_ENVIRONMENT] = Form("keys such as 'environments:' and 'tenants:'", "start with 'tenants:', or remove the file")
_YAML = re.compile(r".*\.ya?ml", re.IGNORECASE)


def read_all(file: FilePath, reader: Reader = bytes_of) -> ParsedFile:
    """A fleet's file with the clusters of the files that it includes, and with what these say of tenants.

    reader: what gives the bytes of each file.

    Raises: Refused: there is no such file; InvalidFleet: its own text is not a YAML mapping in UTF-8.
    """
    main = read(file, reader=reader)
    entries = main.data.get("include")
    if not isinstance(entries, list) or not isinstance(main.data.get("tenants", {}), dict):
        return main  # the check of shapes reports their types
    return _Reading(main, file, reader).run([_entry(each, index) for index, each in enumerate(entries)])


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of `include`, as far as its parts have the right type. kind: the key that its files hold, or `environment`."""

    at: Path
    kind: str
    pattern: str
    of: tuple[str, ...]
    classes: tuple[str, ...]
    each: Any = None
    environment: str = ""

    def names_of(self, file: FilePath) -> tuple[str, ...]:
        """The names of the tenants that a file may speak of; patterns where the tenants are new."""
        return self.of or (file.stem,)


def _entry(written: Any, index: int) -> _Entry:
    at: Path = ("include", index)
    if not isinstance(written, dict):
        return _Entry(at, _TENANTS, written if isinstance(written, str) else "", (), ())
    if isinstance(name := written.get(_ENVIRONMENT), str):
        files = written.get("files")
        return _Entry((*at, "files"), _ENVIRONMENT, files if isinstance(files, str) else "", (), (), environment=name)
    kind = _CLUSTERS if _CLUSTERS in written and _TENANTS not in written else _TENANTS
    pattern, of = written.get(kind), written.get("of")
    names = tuple(each for each in of if isinstance(each, str)) if isinstance(of, list) else ()
    return _Entry(
        (*at, kind),
        kind,
        pattern if isinstance(pattern, str) else "",
        names or (("",) if of is not None else ()),
        named_classes(written),
        written.get("each"),
    )


def _holds_rows(entry: _Entry) -> bool:
    return entry.kind != _ENVIRONMENT and entry.pattern.lower().endswith(".csv")


def _over(
    row: dict[str, Any], own: dict[str, Any], at: Path, file: ParsedFile, written: dict[Path, Written]
) -> dict[str, Any]:
    """A row with what YAML says of the same name over it; mappings merge once. Args: written: where each part stands."""
    whole = {**row, **own}
    for key, value in row.items():
        if key not in own:
            written[*at, key] = (file, (*at, key))
        elif isinstance(value, dict) and isinstance(own[key], dict):
            whole[key] = {**value, **own[key]}
            written.update({(*at, key, each): (file, (*at, key, each)) for each in value if each not in own[key]})
    return whole


class _Reading:
    """Gathers what all files say of each tenant, the clusters they add, and what prevents that."""

    def __init__(self, main: ParsedFile, file: FilePath, reader: Reader) -> None:
        self.main = main
        self.reader = reader
        self.directory = file.parent
        self.fills: dict[str, Fill] = {}
        self.clusters: dict[str, ParsedFile] = {}
        self.rows: dict[Path, RowsFile] = {}
        self.overlays: dict[str, list[ParsedFile]] = {}
        self.unread: set[str] = set()
        self.problems: list[Problem] = []
        self._seen: set[FilePath] = set()
        self._directories: dict[FilePath, Path] = {}
        self._itself = file.resolve()
        self._bytes = 0
        self._allowance = Allowance()
        self._lacks_clusters = False

    def run(self, entries: list[_Entry]) -> ParsedFile:
        # Rows first: included files may speak of their tenants.
        tables = [entry for entry in entries if _holds_rows(entry)]
        for entry in tables:
            for file in self._files(entry) if entry.pattern else ():
                self._add_rows(file, entry)
        for entry in entries:
            if entry not in tables and entry.pattern and self._names_are_known(entry):
                for file in self._files(entry):
                    self._add(file, entry)
        completed = self.main.including(self.fills, self.problems, self._missed())
        completed.lacks_clusters, completed.rows = self._lacks_clusters, dict(self.rows)
        completed.overlays = {name: tuple(files) for name, files in self.overlays.items()}
        completed.unread = frozenset(self.unread)
        return completed.joined(*self._joined()) if self.clusters or self.rows else completed

    def _joined(self) -> tuple[dict[str, Any], dict[Path, Written]]:
        """The data with the clusters of all files, and where those of included files stand."""
        added: dict[str, Any] = {name: file.data[_CLUSTERS][name] for name, file in self.clusters.items()}
        written: dict[Path, Written] = {
            (_CLUSTERS, name): (file, (_CLUSTERS, name)) for name, file in self.clusters.items()
        }
        data = (
            {**self.main.data, _CLUSTERS: {**self.main.data.get(_CLUSTERS, {}), **added}} if added else self.main.data
        )
        for at, file in self.rows.items():
            kind, name = map(str, at)
            base = data.get(kind) or {}
            if data.get(kind) is self.main.data.get(kind):
                data = {**data, kind: (base := dict(base))}
            row = file.data[kind][name]
            if name not in base:
                base[name], written[at] = row, (file, at)
            elif isinstance(base[name], dict | None):
                base[name] = _over(row, base[name] or {}, at, file, written)
        return data, written

    def _add_rows(self, file: FilePath, entry: _Entry) -> None:
        try:
            table = read_table(file, self.reader)
        except InvalidFleet as invalid:
            self.problems += invalid.diagnostics
            self._lacks_clusters |= entry.kind == _CLUSTERS
            return
        except Refused as refused:
            self._problem(entry.at, "unreadable-include", refused.message, "make it a readable file")
            return
        source = RowsFile(self.main, table, entry.kind, entry.each, (*entry.at[:-1], "each"))
        found = expanded(source, self._allowance)
        self.problems += found.problems
        self._lacks_clusters |= bool(found.problems) and entry.kind == _CLUSTERS
        for name in found.entries:
            first = self.rows.setdefault((entry.kind, name), source)
            if first is not source:
                at = (entry.kind, name)
                message = f"'{shorten(name)}' is a row of two files"
                notes = (f"first: {first.line_of(at)}",)
                problem = Problem(at, "duplicate-row", message, notes, "rename or remove one of them")
                self.problems.append(problem.at(source.locate(at, key=True)))

    def _names_are_known(self, entry: _Entry) -> bool:
        """Whether it is clear which tenants the files may speak of: a team may own a directory, and name its files at will."""
        if entry.kind != _TENANTS or entry.of or not has_wildcard(str(FilePath(entry.pattern).parent)):
            return True
        message = (
            f"'{shorten(entry.pattern)}' matches files in several directories, so their names do not say whose they are"
        )
        fix = "name the tenants: '{tenants: PATTERN, of: [TENANT]}', or write a pattern for each directory"
        self._problem(entry.at, "bad-include", message, fix)
        return False

    def _missed(self) -> Iterator[Problem]:
        """Warnings about files beside included ones, whose tenants the author may believe to be in the fleet."""
        for directory, at in self._directories.items():
            for file in sorted(directory.iterdir()) if directory.is_dir() else ():
                if _YAML.fullmatch(file.name) and file.resolve() not in self._seen and not file.is_dir():
                    message = f"'{file}' is not included, although files beside it are"
                    fix = "rename it so that the pattern matches it, or move it to another directory"
                    place = self.main.locate(at)
                    yield Problem(at, "not-included", message, fix=fix, severity=Severity.WARNING).at(place)

    def _files(self, entry: _Entry) -> Iterator[FilePath]:
        """The files a pattern takes that no pattern before it took, sorted."""
        pattern, at = entry.pattern, entry.at
        if not pattern.isprintable() or FilePath(pattern).is_absolute() or ".." in FilePath(pattern).parts:
            fix = "use a path relative to this file, without '..'"
            self._problem(at, "bad-include", f"'{shorten(pattern)}' leaves the directory of '{self.main.file}'", fix)
            return
        try:
            found = matching(pattern, self.directory)
        except TooManyFiles:
            self._problem(
                at, "bad-include", f"'{shorten(pattern)}' searches too many files or directories", "narrow the pattern"
            )
            return
        if not found:
            fix = "correct the pattern, or remove it"
            self._problem(at, "includes-nothing", f"no file matches '{shorten(pattern)}'", fix)
        for name in sorted(found):
            file = self.directory / name
            resolved = file.resolve()
            if resolved == self._itself:
                fix = f"keep included files in a directory of their own, such as '{entry.environment or entry.kind}.d/*.yaml'"
                self._problem(at, "bad-include", f"'{shorten(pattern)}' matches the including file itself", fix)
            elif not resolved.is_relative_to(self.directory.resolve()):
                message = f"'{file}' is a symlink that leads out of the directory of '{self.main.file}'"
                self._problem(at, "bad-include", message, "put the file itself into that directory")
            elif resolved not in self._seen:
                self._seen.add(resolved)
                if file.parent.resolve() != self._itself.parent:
                    self._directories.setdefault(file.parent, at)
                yield from self._readable(file, at)

    def _readable(self, file: FilePath, at: Path) -> Iterator[FilePath]:
        """The file itself, unless reading it would wait for ever, or all files together are too large."""
        if file.exists() and not file.is_file() and not file.is_dir():
            message = f"'{file}' is not a file, but a pipe or a device"
            self._problem(at, "unreadable-include", message, "make it a readable file, or narrow the pattern")
            return
        self._bytes += file.stat().st_size if file.exists() else 0
        if self._bytes > MAX_BYTES:
            message = f"with '{file}' the included files exceed {MAX_BYTES} bytes"
            self._problem(at, "too-large", message, "narrow the pattern")
            return
        yield file

    def _add(self, file: FilePath, entry: _Entry) -> None:
        try:
            source = read(file, _FORMS[entry.kind], self.reader)
        except InvalidFleet as invalid:
            self.problems += invalid.diagnostics
            self._lacks_clusters |= entry.kind == _CLUSTERS
            self.unread |= {entry.environment}
        except Refused as refused:
            fix = "make it a readable file, or narrow the pattern"
            self._problem(entry.at, "unreadable-include", refused.message, fix)
            self.unread |= {entry.environment}
        else:
            if entry.kind == _ENVIRONMENT:
                self.overlays.setdefault(entry.environment, []).append(source)
                return
            self.problems += _misplaced(source, entry.kind, self.main.file)
            held = source.data.get(entry.kind)
            for name in held if isinstance(held, dict) else ():
                if entry.kind == _CLUSTERS:
                    self._add_cluster(name, source)
                else:
                    self._add_tenant(name, source, entry, entry.names_of(file))

    def _add_cluster(self, name: str, source: ParsedFile) -> None:
        path = (_CLUSTERS, name)
        declared = self.main.data.get(_CLUSTERS, {})
        if not isinstance(declared, dict):
            return  # the check of shapes reports it
        first = self.main if name in declared else self.clusters.get(name) or self.rows.get((_CLUSTERS, name))
        if first is None:
            self.clusters[name] = source
            return
        message, fix = f"cluster '{name}' is declared twice", "rename or remove one of them"
        notes = (f"first: {first.line_of(path)}",)
        self.problems.append(Problem(path, "duplicate-cluster", message, notes, fix).at(source.locate(path, key=True)))

    def _add_tenant(self, name: str, source: ParsedFile, entry: _Entry, names: tuple[str, ...]) -> None:
        path = ("tenants", name)
        place = source.locate(path, key=True)
        if not any(name == each or (entry.classes and fnmatchcase(name, each)) for each in names):
            why = f"it is included for {listed(names)} ({self.main.line_of(entry.at)})"
            fix = f"move it to a file that is included for '{name}', or remove it"
            self.problems.append(
                Problem(path, "foreign-tenant", f"this file may not speak of tenant '{name}'", (why,), fix).at(place)
            )
        elif entry.classes and self._declares(name) and name not in entry.of:
            there = self.rows.get((_TENANTS, name), self.main)
            why = f"first: {there.line_of(path)}"
            message = f"tenant '{name}' is in {there.file} already, and this file may only bring new tenants"
            self.problems.append(Problem(path, "duplicate-tenant", message, (why,), "rename the tenant").at(place))
        elif name in self.fills:
            first = self.fills[name].file.line_of(path)
            message = f"tenant '{name}' is declared in two included files"
            fix = "rename or remove one of them"
            self.problems.append(Problem(path, "duplicate-tenant", message, (f"first: {first}",), fix).at(place))
        else:
            self.fills[name] = Fill(source, entry.at, entry.classes)

    def _declares(self, tenant: str) -> bool:
        return tenant in self.main.data.get(_TENANTS, {}) or (_TENANTS, tenant) in self.rows

    def _problem(self, at: Path, code: str, message: str, fix: str) -> None:
        self.problems.append(Problem(at, code, message, fix=fix).at(self.main.locate(at)))
        self._lacks_clusters |= at[-1] == _CLUSTERS


def _misplaced(source: ParsedFile, kind: str, main: str) -> Iterator[Problem]:
    """What an included file holds beside the key of its kind, or lacks."""
    if not isinstance(source.data.get(kind), dict):
        place = source.locate((kind,))
        yield Problem((), f"no-{kind}", f"the file declares no {kind}", fix=_FORMS[kind].fix).at(place)
    for key in source.data:
        if key != kind:
            more = "; it cannot include other files" if key == "include" else ""
            message = f"an included file may only contain '{kind}:', not '{key}:'{more}"
            place = source.locate((key,), key=True)
            yield Problem((key,), "not-for-included", message, fix=f"move it to {main}, or remove it").at(place)
