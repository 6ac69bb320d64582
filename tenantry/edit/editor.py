"""Edits a fleet's file and the files that it includes: in memory, then on the disk, all of them as a whole or none.

A path is a tuple of keys and indexes. Each edit goes to the file that declares the place, changes no byte outside of what it
edits, and leaves exactly the data that was asked for. Later edits see what earlier ones did.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.document import Document, same
from tenantry.edit.paths import emptied_by, not_there, ranks_at
from tenantry.fleet.templates import with_templates
from tenantry.grants.frames import PARTS, SELECTOR
from tenantry.messages.data import ABSENT, mapping_at, nested, value_at
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.text import format_path
from tenantry.source.include import read_all
from tenantry.source.parse import bytes_of

_OF_TEAMS = (*PARTS, SELECTOR)
"""Keys of a tenant that its included file can always declare."""


class Editor:
    """The files of a fleet while they are edited.

    main: the fleet's own file; documents: all of them, the main one first. teams: those that teams own. An included file that
    cannot be read or parsed is left out; the check of the edited fleet reports it.

    Raises: Refused: the fleet's own file cannot be read; InvalidFleet: it is not a YAML mapping in UTF-8.
    """

    def __init__(self, main: FilePath) -> None:
        contents: dict[FilePath, bytes] = {}

        def reader(file: FilePath) -> bytes:
            contents[file] = bytes_of(file)
            return contents[file]

        source = read_all(main, reader)
        self.main = main
        self._merged = with_templates(source)
        self.documents = {main: Document(main, contents.pop(main))}
        self.teams = frozenset(contents) - frozenset(map(FilePath, source.pieces))
        for file, raw in contents.items():
            with suppress(InvalidFleet):
                self.documents[file] = Document(file, raw)

    # --- looking ----------------------------------------------------------------------------------------------------

    def read(self, file: FilePath) -> bytes:
        """The bytes of a file with the edits so far, for `load.load_fleet`."""
        return self.documents[file].after if file in self.documents else bytes_of(file)

    def read_before(self, file: FilePath) -> bytes:
        """The bytes of a file as they were when the editor read it."""
        return self.documents[file].before if file in self.documents else bytes_of(file)

    def changes(self) -> Mapping[FilePath, tuple[bytes, bytes]]:
        """The bytes of each changed file, before and after."""
        changed = {file: (document.before, document.after) for file, document in self.documents.items()}
        return {file: (before, after) for file, (before, after) in changed.items() if before != after}

    def file_of(self, path: Path) -> FilePath:
        """The file that declares a path; for a path that is not there, the file in which an edit declares it.

        That is the one that declares most of the path. If several do, a tenant's apps and what belongs to them go to the
        file that its team owns, and everything else goes to the platform's.
        """
        depths = {file: document.depth(path) for file, document in self.documents.items()}
        most = max(depths.values())
        if most < 2:
            return self.main
        most_of_it = [file for file, depth in depths.items() if depth == most]
        of_team = path[:1] == ("tenants",) and len(path) > 2 and path[2] in _OF_TEAMS
        return next((file for file in most_of_it if (file in self.teams) == of_team), most_of_it[0])

    def files_with(self, path: Path) -> list[FilePath]:
        """The files that declare a path."""
        return [file for file, document in self.documents.items() if document.depth(path) == len(path)]

    def value(self, path: Path, default: Any = ABSENT) -> Any:
        """The value at a path, in the file that declares it."""
        return value_at(self.documents[self.file_of(path)].data, path, default)

    def value_or_of_template(self, path: Path) -> Any:
        """The value at a path; of a tenant that does not say it, what one of its templates says."""
        own = self.value(path)
        return value_at(self._merged.data, path, ABSENT) if own is ABSENT and path[:1] == ("tenants",) else own

    def names(self, *path: str) -> list[str]:
        """The keys of the mappings at a path, of all files."""
        mappings = (mapping_at(document.data, *path) for document in self.documents.values())
        return list(dict.fromkeys(name for mapping in mappings for name in mapping))

    def place(self, path: Path, file: FilePath | None = None) -> str:
        """`file:line:column` of the key at a path that is there, or of the entry of a list."""
        document = self.documents[file or self.file_of(path)]
        entry = document.entry(path)
        return document.place(entry.start if entry.key else entry.value.start)

    # --- changing ---------------------------------------------------------------------------------------------------

    def set(self, path: Path, value: Any, *, file: FilePath | None = None) -> None:
        """Write a value at a path, with the mappings above it that are missing. file: where, if it is not there yet.

        Of a mapping or a list, only the entries that differ change.
        """
        document = self.documents[file or self.file_of(path)]
        if document.depth(path) < len(path):
            _create(document, path, value)
        else:
            assign(document, path, value)

    def unset(self, path: Path, *, file: FilePath | None = None) -> None:
        """Remove the entry at a path with its comments, in every file that declares it, or in one.

        Mappings that become empty go with it, where their absence means the same; the only key of a file stays.
        """
        holders = [file] if file else self.files_with(path)
        if not holders:
            raise Refused(f"there is no '{format_path(path)}'")
        for holder in holders:
            document = self.documents[holder]
            gone = emptied_by(document.data, path)
            document.remove(path[:2] if len(gone) == 1 < len(path) and len(document.data) == 1 else gone)


# --- edits of several entries at once ---------------------------------------------------------------------------------


def assign(document: Document, path: Path, value: Any) -> None:
    """Make the value at a path another one, by edits of the entries that differ."""
    old = value_at(document.data, path)
    if same(old, value):
        return
    if isinstance(old, dict) and isinstance(value, dict) and old.keys() & value.keys():
        for key in [key for key in old if key not in value]:
            document.remove((*path, key))
        for key, inner in value.items():
            if key in old:
                assign(document, (*path, key), inner)
            else:
                document.insert((*path, key), inner, _in_order(value_at(document.data, path), (*path, key)))
    elif isinstance(old, list) and isinstance(value, list) and old and value:
        _assign_list(document, path, old, value)
    else:
        document.replace(path, value)


def _assign_list(document: Document, path: Path, old: list[Any], new: list[Any]) -> None:
    """Change the entries between those that a list has in common with the new one at its start and at its end."""
    start = next(_different(zip(old, new, strict=False)), min(len(old), len(new)))
    rest = min(len(old), len(new)) - start
    end = next(_different(zip(old[::-1][:rest], new[::-1][:rest], strict=True)), rest)
    gone, come = len(old) - end - start, len(new) - end - start
    for index in range(start, start + min(gone, come)):
        assign(document, (*path, index), new[index])
    for index in range(start + gone - 1, start + come - 1, -1):
        document.remove((*path, index))
    for index in range(start + gone, start + come):
        document.insert((*path, index), new[index], index)


def _different(pairs: Iterator[tuple[Any, Any]]) -> Iterator[int]:
    """The indexes of pairs that are not the same."""
    return (index for index, (old, new) in enumerate(pairs) if not same(old, new))


def _create(document: Document, path: Path, value: Any) -> None:
    """Write a value at a path of which the file has some parts only."""
    depth = document.depth(path)
    if depth == len(path):
        document.replace(path, value)
        return
    holder, part = value_at(document.data, path[:depth]), path[depth]
    new = nested(path[depth + 1 :], value)
    if holder is None:
        document.replace(path[:depth], nested((part,), new))
        return
    # A list grows at its end.
    grows = not isinstance(holder, list) or part == len(holder)
    if not grows or any(isinstance(later, int) and later for later in path[depth + 1 :]):
        raise not_there(path, lambda at: value_at(document.data, at, ABSENT))
    document.insert(path[: depth + 1], new, _in_order(holder, path[: depth + 1]))


def _in_order(holder: Any, path: Path) -> int | None:
    """Before which entry of a mapping a key of the schema comes: those behind it in the reference. None: at the end."""
    known = ranks_at(path[:-1])
    if not isinstance(holder, dict) or path[-1] not in known:
        return None
    before = [index for index, key in enumerate(holder) if known.get(key, -1) < known[path[-1]]]
    return before[-1] + 1 if before else 0


# --- on the disk ------------------------------------------------------------------------------------------------------
#
# Each file is replaced by a new one with its mode and owner, so that no reader ever sees half a file. What would be lost by that
# is refused: another name of the same file, and changes that somebody made since the file was read.

_NOTHING = "nothing was written"


def write_all(changes: Mapping[FilePath, tuple[bytes, bytes]]) -> None:
    """Replace the bytes of files. changes: the bytes before and after, by file. Raises: Refused."""
    with ExitStack() as undo:
        staged = []
        for file, (before, after) in changes.items():
            target = _checked(file, before)
            staged.append((file, target, _staged(file, target, after, undo)))
        for file, (before, _) in changes.items():
            _checked(file, before)
        with ExitStack() as put_back:
            for file, target, new in staged:
                old = _staged(file, target, changes[file][0], undo) if len(staged) > 1 else None
                try:
                    new.replace(target)
                except OSError as error:
                    raise _refused(file, error) from None
                if old:
                    put_back.callback(old.replace, target)
            put_back.pop_all()


def _checked(file: FilePath, before: bytes) -> FilePath:
    """The file behind all symlinks. Raises: Refused: it cannot be replaced, or somebody changed it since it was read."""
    try:
        target = FilePath(os.path.realpath(file, strict=True))
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{file} is not a regular file, so {_NOTHING}", "name a file with --file")
        if not (status.st_mode & 0o222 and os.access(target, os.W_OK)):
            raise Refused(f"{file} is read-only, so {_NOTHING}", f"allow writing: chmod u+w {target}")
        if status.st_nlink > 1:
            raise Refused(
                f"{file} has {status.st_nlink} names (hard links), and the others would keep the old text, so {_NOTHING}",
                "remove the other names, or make them symlinks",
            )
        if file.read_bytes() != before:
            raise Refused(f"{file} changed while it was edited, so {_NOTHING}", "run the command again")
    except OSError as error:
        raise _refused(file, error) from None
    return target


def _staged(file: FilePath, target: FilePath, content: bytes, undo: ExitStack) -> FilePath:
    """Write bytes into a file beside the target, with its mode and owner. It is removed unless it is used."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        undo.callback(FilePath(name).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            status = target.stat()
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(handle, status.st_uid, status.st_gid)
            os.fchmod(handle, stat.S_IMODE(status.st_mode))
            os.fsync(handle)
    except OSError as error:
        raise _refused(file, error) from None
    return FilePath(name)


def _refused(file: FilePath, error: OSError) -> Refused:
    return Refused(
        f"{file} cannot be written ({error.strerror}), so {_NOTHING}", "correct that, and run the command again"
    )
