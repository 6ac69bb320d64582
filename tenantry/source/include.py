"""Tenants from several files: `include:` names more files, so that each team can own its own.

The files become one document before any check; the `ParsedFile` remembers which file each tenant is in. Problems in one file
are collected, and do not prevent checks of the main file or the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from tenantry.messages.errors import Diagnostic, InvalidFleet, Path, Refused
from tenantry.messages.redact import shorten
from tenantry.source.globbing import TooManyFiles, matching
from tenantry.source.parse import MAX_BYTES, Form, read
from tenantry.source.parsed_file import ParsedFile

_INCLUDED = Form("the key 'tenants:'", "start with 'tenants:', or remove the file")


def read_all(file: FilePath) -> ParsedFile:
    """A fleet's file, completed by those it includes.

    Raises: Refused where there is no such file; InvalidFleet where its own text is not a YAML mapping in UTF-8.
    """
    main = read(file)
    patterns = main.data.get("include")
    if not isinstance(patterns, list) or not isinstance(main.data.get("tenants", {}), dict):
        return main  # what is wrong with their types is told with all other types
    return _Join(main, file).run(patterns)


class _Join:
    """Gathers the tenants of all files, and what keeps them from being gathered."""

    def __init__(self, main: ParsedFile, file: FilePath) -> None:
        self.main = main
        self.directory = file.parent
        self.tenants: dict[str, Any] = dict(main.data.get("tenants", {}))
        self.tenants_from: dict[str, ParsedFile] = {}
        self.problems: list[Diagnostic] = []
        self._seen: set[FilePath] = set()
        self._itself = file.resolve()
        self._bytes = 0

    def run(self, patterns: list[Any]) -> ParsedFile:
        for index, pattern in enumerate(patterns):
            if isinstance(pattern, str) and pattern:
                for file in self._files(pattern, ("include", index)):
                    self._add(file, ("include", index))
        data = {**self.main.data, "tenants": self.tenants}
        return self.main.joined(data, self.tenants_from, tuple(self.problems))

    def _files(self, pattern: str, at: Path) -> Iterator[FilePath]:
        """The files a pattern takes that no pattern before it took, sorted."""
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
            self._problem(
                at, "includes-nothing", f"no file matches '{shorten(pattern)}'", "correct the pattern, or remove it"
            )
        for name in found:
            file = self.directory / name
            resolved = file.resolve()
            if resolved == self._itself:
                fix = "keep included files in a directory of their own, such as 'tenants.d/*.yaml'"
                self._problem(at, "bad-include", f"'{shorten(pattern)}' matches the including file itself", fix)
            elif not resolved.is_relative_to(self.directory.resolve()):
                message = f"'{file}' is a symlink that leads out of the directory of '{self.main.file}'"
                self._problem(at, "bad-include", message, "put the file itself into that directory")
            elif resolved not in self._seen:
                self._seen.add(resolved)
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

    def _add(self, file: FilePath, at: Path) -> None:
        try:
            source = read(file, _INCLUDED)
        except InvalidFleet as invalid:
            self.problems += invalid.diagnostics
        except Refused as refused:
            fix = "make it a readable file, or narrow the pattern"
            self._problem(at, "unreadable-include", refused.message, fix)
        else:
            self.problems += _misplaced(source, self.main.file)
            tenants = source.data.get("tenants")
            for name in tenants if isinstance(tenants, dict) else ():
                self._add_tenant(name, source)

    def _add_tenant(self, name: str, source: ParsedFile) -> None:
        path = ("tenants", name)
        if name in self.tenants:
            first = self.tenants_from.get(name, self.main).line_of(path)
            message = f"tenant '{name}' is declared in two files"
            fix = "rename or remove one of them"
            place = source.locate(path, key=True)
            self.problems.append(Diagnostic(place, "duplicate-tenant", message, path, (f"first: {first}",), fix))
            return
        self.tenants[name] = source.data["tenants"][name]
        self.tenants_from[name] = source

    def _problem(self, at: Path, code: str, message: str, fix: str) -> None:
        self.problems.append(Diagnostic(self.main.locate(at), code, message, at, fix=fix))


def _misplaced(source: ParsedFile, main: str) -> Iterator[Diagnostic]:
    """What an included file holds beside `tenants:`, or lacks."""
    if not isinstance(source.data.get("tenants"), dict):
        place = source.locate(("tenants",))
        yield Diagnostic(place, "no-tenants", "the file declares no tenants", fix=_INCLUDED.fix)
    for key in source.data:
        if key != "tenants":
            more = "; it cannot include other files" if key == "include" else ""
            message = f"an included file may only contain 'tenants:', not '{key}:'{more}"
            place = source.locate((key,), key=True)
            yield Diagnostic(place, "not-for-included", message, (key,), fix=f"move it to {main}, or remove it")
