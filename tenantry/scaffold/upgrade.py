"""What this version would write differently into a project that another version made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from tenantry import __version__
from tenantry.scaffold.files import File
from tenantry.scaffold.record import Record, blob

Read = Callable[[str], bytes | None]
"""A file of the project, or None."""


class Kind(StrEnum):
    ADD = "add"
    """This version writes a file that the other did not."""
    UPDATE = "update"
    """Nobody edited the file, so it is replaced."""
    EDITED = "edited"
    """This version writes it differently, and somebody edited it: it stays as it is."""
    MERGED = "merged"
    """As `EDITED`, but both changes fit together."""
    DELETED = "deleted"
    """This version writes it differently, and somebody deleted it: it stays deleted."""
    OBSOLETE = "obsolete"
    """This version does not write it any more: it stays."""


@dataclass(frozen=True, slots=True)
class Change:
    """before: what is there. written: what the other version wrote, if the file's history has it. after: what this one writes."""

    path: str
    kind: Kind
    before: str | None = None
    written: str | None = None
    after: File | None = None

    @property
    def is_written(self) -> bool:
        """Whether the file is written."""
        return self.kind in (Kind.ADD, Kind.UPDATE, Kind.MERGED)

    @property
    def is_open(self) -> bool:
        """Whether something is left to do: a file to write, or to look at."""
        return self.is_written or self.kind is Kind.EDITED


def changes(
    record: Record, files: Mapping[str, File], read: Read, recall: Callable[[str], bytes | None]
) -> list[Change]:
    """All changes by path.

    Args: files: what this version writes. recall: content by its hash in `Record.files`, if it can be had.
    """
    found = [_change(path, record, file, read, recall) for path, file in files.items()]
    gone = (path for path, hashed in record.files.items() if path not in files and hashed is not None)
    obsolete = [Change(path, Kind.OBSOLETE) for path in gone if read(path) is not None]
    return sorted([*(each for each in found if each), *obsolete], key=lambda each: each.path)


def _change(path: str, record: Record, file: File, read: Read, recall: Callable[[str], bytes | None]) -> Change | None:
    known, hashed = path in record.files, record.files.get(path)
    new = blob(file.text.encode())
    if (known and hashed is None) or hashed == new:
        return None  # its owner's, or nothing new: whatever the owner did to it since
    there = read(path)
    if there is None:
        return Change(path, Kind.DELETED if known else Kind.ADD, after=file)
    if blob(there) == new:
        return None
    before = there.decode(errors="replace")
    if hashed and blob(there) == hashed:
        return Change(path, Kind.UPDATE, before, before, file)
    written = recall(hashed) if hashed else None
    return Change(path, Kind.EDITED, before, written.decode(errors="replace") if written is not None else None, file)


def upgraded(record: Record, files: Mapping[str, File], found: Iterable[Change], keep: Iterable[str]) -> Record:
    """The record after the changes are made.

    An edited file keeps the hash of the version that it was made from, until its owner says that it is as it should be.

    Args: keep: edited files that stay as they are.
    """
    open_edits = {each.path for each in found if each.kind is Kind.EDITED} - set(keep)
    hashes: dict[str, str | None] = {}
    for path, file in files.items():
        old = record.files.get(path)
        if path in record.files and (old is None or path in open_edits):
            hashes[path] = old
        elif path not in open_edits:  # a new file that was in the way has no hash
            hashes[path] = blob(file.text.encode())
    return replace(record, version=__version__, files=hashes)
