"""A fleet's files while an edit changes them. Later steps of the edit see what earlier ones did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.data import nested
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.references import Reference, Target, references_to
from tenantry.grants.frames import PARTS, SELECTOR
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """What an edit did. done: a sentence in the past tense; notes: what else; hints: what to do before the next run."""

    done: str
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class Draft:
    """Looks into the files of an editor, and changes them. A path is one of a single file."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.main = editor.path
        self.documents = editor.documents

    def edit(self, done: str, notes: Iterable[str] = (), hints: Iterable[str] = ()) -> Edit:
        """What the steps so far did, in words."""
        return Edit(done, tuple(notes), tuple(hints))

    # --- looking ----------------------------------------------------------------------------------------------------

    def data(self, file: FilePath) -> dict[str, Any]:
        """What a file holds now."""
        return self.documents[file].data

    def holders(self, path: Path) -> Iterator[FilePath]:
        """The files that have something at a path."""
        return (file for file in self.documents if value_at(self.data(file), path, ABSENT) is not ABSENT)

    def holder(self, path: Path) -> FilePath | None:
        """The file that has something at a path; an included one before the main file, whose entry is a frame."""
        found = tuple(self.holders(path))
        return next((file for file in found if file != self.main), next(iter(found), None))

    def value(self, path: Path, default: Any = None) -> Any:
        """The value at a path, in the file that `holder` names."""
        file = self.holder(path)
        return default if file is None else value_at(self.data(file), path, default)

    def names(self, *path: str) -> list[str]:
        """The keys at a path, of all files."""
        return list(dict.fromkeys(key for file in self.documents for key in mapping_at(self.data(file), *path)))

    def references_to(self, target: Target) -> list[tuple[FilePath, Reference]]:
        """Where a name stands, in which files."""
        return [(file, each) for file in self.documents for each in references_to(self.data(file), target)]

    def place(self, file: FilePath, path: Path) -> str:
        """`file:line:column` of a value, or of a key."""
        document = self.documents[file]
        entry = document.entry(path)
        return document.place(entry.start if entry.key else entry.value.start)

    def file_for(self, path: Path) -> FilePath:
        """The file for a new entry at a path: a tenant's parts go where the tenant's other parts are."""
        if path[0] == "tenants" and len(path) > 2 and path[2] in (*PARTS, SELECTOR):
            return self.holder(path[:2]) or self.main
        return next(self.holders(path[:2]), self.main)

    # --- changing ---------------------------------------------------------------------------------------------------

    def put(self, path: Path, value: Any, file: FilePath | None = None) -> None:
        """A new value at a path; mappings above it that do not exist are made."""
        document = self.documents[file or self.file_for(path)]
        lengths = range(len(path) - 1, -1, -1)
        depth = next(each for each in lengths if isinstance(value_at(document.data, path[:each]), dict | list))
        new = nested(path[depth + 1 :], value)
        if value_at(document.data, path[: depth + 1], ABSENT) is ABSENT:
            document.insert(path[: depth + 1], new)
        else:
            document.replace(path[: depth + 1], new)  # `null` where a mapping can stand

    def append(self, path: Path, value: Any, file: FilePath) -> None:
        """A new entry at the end of a list that exists."""
        document = self.documents[file]
        document.insert((*path, len(value_at(document.data, path))), value)

    def set(self, path: Path, value: Any, file: FilePath) -> None:
        """Another value at a path that exists."""
        self.documents[file].replace(path, value)

    def rename(self, path: Path, key: str, file: FilePath) -> None:
        """Another key for the value at a path."""
        self.documents[file].rename(path, key)

    def unset(self, path: Path, file: FilePath, keep: int) -> None:
        """Remove what is at a path, and what is empty then above it. keep: how many keys of the path stay anyway."""
        document = self.documents[file]
        while len(path) > keep + 1 and len(value_at(document.data, path[:-1], ())) == 1:
            path = path[:-1]
        document.remove(path)
