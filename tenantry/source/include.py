"""Tenants and clusters from several files: `include:` names more files, so that each team can own its own.

A team's file is named after its tenant and fills in what the main file declares; `grants.frames` decides what it may say. `files`
are pieces of the main file, with its trust: they add tenants, clusters and templates, and append overrides to tenants and templates
that another file declares. Problems in one file are collected, and do not prevent checks of the main file or the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise, takewhile
from pathlib import Path as FilePath
from typing import Any

from tenantry.messages.data import mapping_at, value_at, with_value
from tenantry.messages.errors import InvalidFleet, Path, Problem, Refused
from tenantry.messages.problems import wrong_type
from tenantry.messages.redact import shorten
from tenantry.messages.text import declared, listed
from tenantry.source.parse import MAX_BYTES, Form, Reader, bytes_of, read
from tenantry.source.parsed_file import Fill, ParsedFile, Written

_TENANTS, _FILES = "tenants", "files"
_PARTS: Mapping[tuple[str, ...], str] = {
    ("clusters",): "cluster",
    (_TENANTS,): "tenant",
    ("templates", "clusters"): "template",
    ("templates", _TENANTS): "template",
}
"""What pieces of the main file hold, with the word for an entry of it."""
_FORMS = {
    _TENANTS: Form("the key 'tenants:'", "start with 'tenants:', or remove the file", is_teams=True),
    _FILES: Form("keys such as 'clusters:' and 'tenants:'", "start with 'tenants:', or remove the file"),
}
APPENDED = "overrides"
"""The key of an entry whose list other files may append to."""


def read_all(file: FilePath, reader: Reader = bytes_of) -> ParsedFile:
    """A fleet's file with the pieces that it includes, and with what teams' files say of tenants.

    reader: what gives the bytes of each file.

    Raises: Refused: there is no such file; InvalidFleet: its own text is not a YAML mapping in UTF-8.
    """
    main = read(file, reader=reader)
    entries = main.data.get("include")
    if not isinstance(entries, list) or not isinstance(main.data.get(_TENANTS, {}), dict):
        return main  # the check of shapes reports their types
    return _Reading(main, file, reader).run([_entry(entry, index) for index, entry in enumerate(entries)])


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of `include`, as far as its parts have the right type. kind: `tenants` or `files`."""

    at: Path
    kind: str
    pattern: str


def _entry(written: Any, index: int) -> _Entry:
    at: Path = ("include", index)
    if not isinstance(written, dict):
        return _Entry(at, _TENANTS, written if isinstance(written, str) else "")
    kind = _FILES if _FILES in written and _TENANTS not in written else _TENANTS
    pattern = written.get(kind)
    return _Entry((*at, kind), kind, pattern if isinstance(pattern, str) else "")


class _Reading:
    """Gathers what all files say of each tenant, what pieces add, and what prevents that."""

    def __init__(self, main: ParsedFile, file: FilePath, reader: Reader) -> None:
        self.main = main
        self.reader = reader
        self.directory = file.parent
        self.fills: dict[str, Fill] = {}
        self.pieces: list[str] = []
        self.added: dict[tuple[str, ...], ParsedFile] = {}
        self.appended: list[tuple[tuple[str, ...], ParsedFile]] = []
        self.problems: list[Problem] = []
        self._seen: set[FilePath] = set()
        self._itself = file.resolve()
        self._bytes = 0
        self._lacks_pieces = False

    def run(self, entries: list[_Entry]) -> ParsedFile:
        for entry in entries:
            if entry.pattern and self._names_are_known(entry):
                for file in self._files(entry):
                    self._add(file, entry)
        self.appended = [*filter(self._is_declared, self.appended)]
        completed = self.main.including(self.fills, self.problems)
        completed.pieces, completed.lacks_pieces = tuple(self.pieces), self._lacks_pieces
        return completed.joined(*self._joined()) if self.added or self.appended else completed

    def _joined(self) -> tuple[dict[str, Any], dict[Path, Written]]:
        """The data with the entries of all pieces, and where those stand."""
        data = dict(self.main.data)
        for part in dict.fromkeys(at[:-1] for at in self.added):
            entries = {**mapping_at(data, *part)}
            entries |= {at[-1]: value_at(file.data, at) for at, file in self.added.items() if at[:-1] == part}
            data = with_value(data, part, entries)
        written: dict[Path, Written] = {at: (file, at) for at, file in self.added.items()}
        for at, file in self.appended:
            entry, more = mapping_at(data, *at), value_at(file.data, (*at, APPENDED))
            before = entry[APPENDED] if isinstance(entry.get(APPENDED), list) else []
            data = with_value(data, at, {**entry, APPENDED: [*before, *more]})
            own: Path = (*at, APPENDED)
            written |= {(*own, len(before) + index): (file, (*own, index)) for index in range(len(more))}
        return data, written

    def _is_declared(self, overrides: tuple[tuple[str, ...], ParsedFile]) -> bool:
        """Whether a file declares the entry to which another one appends overrides; else that is a problem."""
        at, source = overrides
        if at in self.added or at[-1] in mapping_at(self.main.data, *at[:-1]):
            return True
        word = _PARTS[at[:-1]]
        message = f"no file declares {word} '{at[-1]}', to which this one appends overrides"
        known = {*mapping_at(self.main.data, *at[:-1]), *(path[-1] for path in self.added if path[:-1] == at[:-1])}
        problem = Problem(
            at, f"unknown-{word}", message, (declared("declared", at[-1], known),), "correct the name, or remove it"
        )
        self.problems.append(problem.at(source.locate(at, key=True)))
        return False

    def _names_are_known(self, entry: _Entry) -> bool:
        """Whether it is clear which tenants the files may speak of: a team may own a directory, and name its files at will."""
        if entry.kind != _TENANTS or not has_wildcard(str(FilePath(entry.pattern).parent)):
            return True
        message = (
            f"'{shorten(entry.pattern)}' matches files in several directories, so their names do not say whose they are"
        )
        self._problem(entry.at, "bad-include", message, "write a pattern for each directory")
        return False

    def _files(self, entry: _Entry) -> Iterator[FilePath]:
        """The files a pattern takes that no pattern before it took, sorted."""
        pattern, at = entry.pattern, entry.at
        if len(pattern) > MAX_PATTERN:
            self._problem(
                at, "bad-include", f"'{shorten(pattern)}' is longer than a path can be", "correct the pattern"
            )
            return
        if not pattern.isprintable() or FilePath(pattern).is_absolute() or ".." in FilePath(pattern).parts:
            fix = "use a path relative to this file, without '..'"
            self._problem(at, "bad-include", f"'{shorten(pattern)}' leaves the directory of '{self.main.file}'", fix)
            return
        try:
            matched = matching(pattern, self.directory)
        except TooManyFiles:
            self._problem(
                at, "bad-include", f"'{shorten(pattern)}' searches too many files or directories", "narrow the pattern"
            )
            return
        if not matched:
            fix = "correct the pattern, or remove it"
            self._problem(at, "includes-nothing", f"no file matches '{shorten(pattern)}'", fix)
        for name in sorted(matched):
            file = self.directory / name
            resolved = file.resolve()
            if resolved == self._itself:
                fix = f"keep included files in a directory of their own, such as '{entry.kind}.d/*.yaml'"
                self._problem(at, "bad-include", f"'{shorten(pattern)}' matches the including file itself", fix)
            elif not resolved.is_relative_to(self.directory.resolve()):
                message = f"'{file}' is a symlink that leads out of the directory of '{self.main.file}'"
                self._problem(at, "bad-include", message, "put the file itself into that directory")
            elif resolved not in self._seen:
                self._seen.add(resolved)
                self._bytes += file.stat().st_size if file.exists() else 0
                if file.exists() and not file.is_file() and not file.is_dir():  # reading it would wait for ever
                    message = f"'{file}' is not a file, but a pipe or a device"
                    self._problem(at, "unreadable-include", message, "make it a readable file, or narrow the pattern")
                elif self._bytes > MAX_BYTES:
                    message = f"with '{file}' the included files exceed {MAX_BYTES} bytes"
                    self._problem(at, "too-large", message, "narrow the pattern")
                else:
                    yield file

    def _add(self, file: FilePath, entry: _Entry) -> None:
        try:
            source = read(file, _FORMS[entry.kind], self.reader)
        except InvalidFleet as invalid:
            self.problems += invalid.diagnostics
            self._lacks_pieces |= entry.kind == _FILES
        except Refused as refused:
            fix = "make it a readable file, or narrow the pattern"
            self._problem(entry.at, "unreadable-include", refused.message, fix)
        else:
            if entry.kind == _FILES:
                self._add_piece(source)
                return
            tenants = source.data.get(_TENANTS)
            if not isinstance(tenants, dict):
                message = "the file declares no tenants"
                fix = f"start with 'tenants:' and '{shorten(file.stem)}:' below it, which has all other keys; or remove the file"
                self.problems.append(Problem((), "no-tenants", message, fix=fix).at(source.locate((_TENANTS,))))
                return
            self.problems += _misplaced(source, (_TENANTS,), self.main.file)
            for name in tenants:
                self._add_tenant(name, source, entry, file.stem)

    def _add_piece(self, source: ParsedFile) -> None:
        self.pieces.append(source.file)
        self.problems += _misplaced(source, tuple(dict.fromkeys(part[0] for part in _PARTS)), self.main.file)
        for part, word in _PARTS.items():
            entries, known = value_at(source.data, part, {}), value_at(self.main.data, part, {})
            if not isinstance(entries, dict):
                self.problems.append(wrong_type(part, "a mapping", entries).at(source.locate(part)))
                self._lacks_pieces = True
            elif isinstance(known, dict):  # else the check of shapes reports it
                for name, entry in entries.items():
                    only = entry.keys() == {APPENDED} if isinstance(entry, dict) else False
                    if part[-1] == _TENANTS and only and isinstance(entry[APPENDED], list):
                        self.appended.append(((*part, name), source))
                        continue
                    first = self.main if name in known else self.added.setdefault((*part, name), source)
                    if first is not source:
                        self._declared_twice((*part, name), f"{word} '{name}' is declared twice", source, first)

    def _add_tenant(self, name: str, source: ParsedFile, entry: _Entry, named: str) -> None:
        at = (_TENANTS, name)
        if name != named:
            why = f"it is included for {listed([named])} ({self.main.line_of(entry.at)})"
            fix = f"move it to a file that is included for '{name}', or remove it"
            message = f"this file may not speak of tenant '{name}'"
            problem = Problem(at, "foreign-tenant", message, (why,), fix)
            self.problems.append(problem.at(source.locate(at, key=True)))
        elif name in self.fills:
            message = f"tenant '{name}' is declared in two included files"
            self._declared_twice(at, message, source, self.fills[name].file)
        else:
            self.fills[name] = Fill(source, entry.at)

    def _declared_twice(self, at: tuple[str, ...], message: str, source: ParsedFile, first: ParsedFile) -> None:
        code, notes = f"duplicate-{_PARTS[at[:-1]]}", (f"first: {first.line_of(at)}",)
        fix = "rename or remove one of them" + (", or leave only 'overrides:' here" if at[-2:-1] == (_TENANTS,) else "")
        problem = Problem(at, code, message, notes, fix)
        self.problems.append(problem.at(source.locate(at, key=True)))

    def _problem(self, at: Path, code: str, message: str, fix: str) -> None:
        self.problems.append(Problem(at, code, message, fix=fix).at(self.main.locate(at)))
        self._lacks_pieces |= at[-1] == _FILES


def _misplaced(source: ParsedFile, parts: tuple[str, ...], main: str) -> Iterator[Problem]:
    """The keys of an included file that only the main file may have."""
    for key in source.data:
        if key not in parts:
            more = "; it cannot include other files" if key == "include" else ""
            only = listed([f"'{part}:'" for part in parts])
            message = f"an included file may only contain {only}, not '{key}:'{more}"
            place = source.locate((key,), key=True)
            yield Problem((key,), "not-for-included", message, fix=f"move it to {main}, or remove it").at(place)


# --- files by a pattern, in bounded time ------------------------------------------------------------------------------

MAX_ENTRIES = 100_000
"""The most files and directories that one pattern may visit."""
MAX_DEPTH = 32
"""The most levels of directories."""
MAX_PATTERN = 4096
"""The most characters of a pattern, as Linux has it for paths. To compile one of megabytes takes half a minute."""
_MAGIC = re.compile(r"[*?[]")


class TooManyFiles(Exception):
    """A pattern visits too many files, or too many levels of directories."""


def has_wildcard(pattern: str) -> bool:
    """Whether a pattern can match several paths."""
    return bool(_MAGIC.search(pattern))


def matching(pattern: str, directory: FilePath) -> list[str]:
    """The paths below a directory that match a pattern, relative to it and sorted.

    `**` matches any directories, but does not follow symlinks. Only a part that starts with a dot matches hidden files.
    Raises: TooManyFiles.
    """
    # `**/**` takes what `**` takes.
    parts = tuple(part for part, below in pairwise((*FilePath(pattern).parts, "")) if (part, below) != ("**", "**"))
    if len(parts) > MAX_DEPTH:
        raise TooManyFiles
    fixed, endless = [*takewhile(lambda part: not has_wildcard(part), parts[:-1])], "**" in parts
    found: list[str] = []
    visited = 0
    for base, directories, files in os.walk(directory.joinpath(*fixed), followlinks=not endless):
        at = FilePath(base).relative_to(directory).parts
        visited += len(directories) + len(files)
        if visited > MAX_ENTRIES or len(at) > MAX_DEPTH:
            raise TooManyFiles
        found += ["/".join((*at, name)) for name in (*directories, *files) if _fits((*at, name), parts)]
        if not endless and len(at) + 1 == len(parts):
            directories.clear()
    return sorted(found)


@lru_cache(maxsize=MAX_ENTRIES)  # else several `**` would ask the same again and again
def _fits(names: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether the parts of a path match those of a pattern."""
    if not (names and parts):
        return not (names or parts)
    if parts[0] == "**":
        below = len(names) > 1 and not names[0].startswith(".") and _fits(names[1:], parts)
        return below or _fits(names, parts[1:] or ("*",))
    is_shown = parts[0].startswith(".") or not names[0].startswith(".")
    return is_shown and fnmatchcase(names[0], parts[0]) and _fits(names[1:], parts[1:])
