"""Edits a fleet's file and the files that it includes, in memory. `write.commit` writes them.

A path is a tuple of keys and indexes in the fleet as all its files together declare it. Each edit goes to the file that
declares the place, changes no byte outside of what it edits, and leaves exactly the data that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit import transfer
from tenantry.edit.data import nested
from tenantry.edit.document import Document
from tenantry.edit.schema import emptied_by
from tenantry.grants.frames import PARTS, SELECTOR
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.text import format_path
from tenantry.source.include import read_all
from tenantry.source.parse import bytes_of

_OF_TEAMS = (*PARTS, SELECTOR)
"""Keys of a tenant that its included file can always declare."""


class Editor:
    """The files of a fleet while they are edited. `path` is the fleet's own file."""

    def __init__(self, path: FilePath, documents: Mapping[FilePath, Document]) -> None:
        self.path = path
        self._documents = documents

    @classmethod
    def open(cls, path: FilePath) -> Editor:
        """Read a fleet's file and the files that it includes.

        An included file that cannot be read or parsed is left out; the check of the edited fleet reports it.
        Raises: Refused: the fleet's own file cannot be read; InvalidFleet: it is not a YAML mapping in UTF-8.
        """
        found: dict[FilePath, bytes] = {}

        def reader(file: FilePath) -> bytes:
            found[file] = bytes_of(file)
            return found[file]

        read_all(path, reader)
        documents = {path: Document(path, found.pop(path))}
        for file, raw in found.items():
            with suppress(InvalidFleet):
                documents[file] = Document(file, raw)
        return cls(path, documents)

    @property
    def documents(self) -> Mapping[FilePath, Document]:
        """The files one by one, for edits that know in which of them they change what."""
        return self._documents

    def read(self, file: FilePath) -> bytes:
        """The bytes of a file with the edits so far, for `load.load_fleet`."""
        return self._documents[file].after if file in self._documents else bytes_of(file)

    def read_before(self, file: FilePath) -> bytes:
        """The bytes of a file as they were when the editor read it."""
        return self._documents[file].before if file in self._documents else bytes_of(file)

    @property
    def files(self) -> tuple[FilePath, ...]:
        """The fleet's own file, then those that it includes and that can be edited."""
        return tuple(self._documents)

    def file_of(self, path: Path) -> FilePath:
        """The file that declares a path; for a path that is not there, the file in which an edit declares it."""
        return _declaring(self.path, self._documents, path).file

    def value(self, path: Path, default: Any = ABSENT) -> Any:
        """The value at a path, in the file that declares it."""
        return value_at(_declaring(self.path, self._documents, path).data, path, default)

    def place(self, path: Path) -> str:
        """`file:line:column` of the key at a path that is there."""
        document = _declaring(self.path, self._documents, path)
        return document.place(document.entry(path).start)

    def text(self, file: FilePath) -> str:
        """The text of a file with the edits so far, without a byte order mark."""
        return self._documents[file].text

    def changes(self) -> Mapping[FilePath, tuple[bytes, bytes]]:
        """The bytes of each changed file, before and after."""
        changed = {file: (each.before, each.after) for file, each in self._documents.items()}
        return {file: (before, after) for file, (before, after) in changed.items() if before != after}

    def set(self, path: Path, value: Any, *, file: FilePath | None = None) -> None:
        """Write a value at a path, with the mappings above it that are missing. file: where, if it is not there yet.

        Of a mapping or a list, only the entries that differ change.
        """
        document = self._document(path, file)
        if document.depth(path) < len(path):
            transfer.create(document, path, value)
        else:
            transfer.assign(document, path, value)

    def unset(self, path: Path) -> None:
        """Remove the entry at a path with its comments, in every file that declares it.

        Mappings that become empty go with it, where their absence means the same.
        """
        documents = self._declaring_all(path)
        for document in documents:
            document.remove(emptied_by(document.data, path))

    def add(
        self,
        path: Path,
        key: str | int | None,
        value: Any,
        after: str | None = None,
        *,
        file: FilePath | None = None,
    ) -> None:
        """Write a new entry into the mapping or list at `path`, which is created if it is missing.

        key: of the mapping, or the index in a list; None: behind the last entry of the list. after: the key behind which the
        entry comes, by default the last one. Raises: Refused: the key is there already.
        """
        document = self._document(path if key is None else (*path, key), file)
        holder = value_at(document.data, path, None)
        index = _index(holder, key, after)
        if isinstance(holder, dict) and key in holder:
            there = (*path, str(key))
            raise Refused(f"'{format_path(there)}' is there already ({document.place(document.entry(there).start)})")
        if isinstance(holder, dict | list):
            document.insert((*path, len(holder) if key is None else key), value, index)
        else:
            new = nested((0 if key is None else key,), value)
            transfer.create(document, path, new)

    def rename(self, path: Path, key: str) -> None:
        """Give an entry of a mapping another key, in every file that declares it. References to it stay as they are."""
        for document in self._declaring_all(path):
            if key != path[-1] and document.depth((*path[:-1], key)) == len(path):
                raise Refused(f"'{format_path((*path[:-1], key))}' is there already")
            document.rename(path, key)

    def move(self, path: Path, to: Path, *, file: FilePath | None = None) -> None:
        """Move an entry with its comments to another path, behind the entries that are there."""
        source, target = self._document(path), self._document(to, file)
        transfer.move(source, path, target, to)

    def _document(self, path: Path, file: FilePath | None = None) -> Document:
        return self._documents[file] if file else _declaring(self.path, self._documents, path)

    def _declaring_all(self, path: Path) -> list[Document]:
        found = [each for each in self._documents.values() if each.depth(path) == len(path)]
        if not found:
            raise Refused(f"there is no '{format_path(path)}'")
        return found


def _index(holder: Any, key: str | int | None, after: str | None) -> int | None:
    if isinstance(key, int):
        return key
    if after is None or not isinstance(holder, dict):
        return None
    if after not in holder:
        raise Refused(f"there is no '{after}' to come after")
    return list(holder).index(after) + 1


def _declaring(main: FilePath, documents: Mapping[FilePath, Document], path: Path) -> Document:
    """The file that declares a path; where none does, the one that should.

    That is the one that declares most of the path. If several do, a tenant's apps and what belongs to them go to the file
    that its team owns, and everything else goes to the main file.
    """
    depths = {file: document.depth(path) for file, document in documents.items()}
    most = max(depths.values())
    deepest = [file for file, depth in depths.items() if depth == most]
    if most < 2 or (main in deepest and not _is_of_team(path)):
        return documents[main]
    return documents[next((file for file in deepest if file != main), main)]


def _is_of_team(path: Path) -> bool:
    return path[:1] == ("tenants",) and len(path) > 2 and path[2] in _OF_TEAMS
