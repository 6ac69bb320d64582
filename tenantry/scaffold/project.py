"""A project in its directory: a new one, and what this version would write differently into one that another version made.

The record `.tenantry.yaml` keeps what was written, so that a later version sees what its owner changed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha1
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from tenantry import __version__
from tenantry.compare.git import Repository
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed
from tenantry.scaffold import write
from tenantry.scaffold.answers import Answers, from_data
from tenantry.scaffold.files import FLEET, File, files

NAME = ".tenantry.yaml"
_HEAD = """\
# What `tenantry init` and `tenantry upgrade` wrote, by Git's hash of each file: a later `tenantry upgrade` updates files that you
# did not edit. Commit it.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """files: the hash of what was written, by path; None: the file is its owner's alone."""

    version: str
    answers: Answers
    files: Mapping[str, str | None]

    def text(self) -> str:
        """The file's content."""
        content = {
            "version": self.version,
            "answers": self.answers.as_data(),
            "files": dict(sorted(self.files.items())),
        }
        return _HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)


def record_of(answers: Answers, files: Mapping[str, File], unmanaged: frozenset[str] = frozenset()) -> Record:
    """The record of files that were just written. unmanaged: those that were left alone."""
    hashes = {path: None if path in unmanaged else blob(file.text.encode()) for path, file in files.items()}
    return Record(__version__, answers, hashes)


def read(text: str) -> Record:
    """Raises: Refused: it is not a record."""
    try:
        content: Any = yaml.safe_load(text)
        files = {str(path): None if hashed is None else str(hashed) for path, hashed in content["files"].items()}
        if any(PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts for path in files):
            raise ValueError("a path leads out of the project")
        return Record(str(content["version"]), from_data(content["answers"]), files)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise Refused(f"{NAME} is damaged", "restore it from Git") from None


def blob(content: bytes) -> str:
    """The hash by which Git knows the content, so that a committed version can be found again."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Project:
    """Files that are not written yet."""

    root: Path
    answers: Answers
    files: dict[str, File]

    @staticmethod
    def refuse_fleet(root: Path, *, keep: bool) -> None:
        """Raises: Refused: the directory holds a project already, or a fleet that is not to be kept."""
        if (root / NAME).exists():
            fix = "run `tenantry upgrade` there to see what this version would write differently"
            raise Refused(f"{root / NAME} exists: this project was made by `tenantry init`", fix)
        if (root / FLEET).exists() and not keep:
            fix = "choose another directory, or add --keep-existing to write a project around this file, as after `tenantry import`"
            raise Refused(f"{root / FLEET} exists: this directory holds a fleet", fix)

    @staticmethod
    def planned(root: Path, answers: Answers) -> Project:
        """The project that the answers make. Raises: Refused: they make an invalid fleet."""
        return Project(root, answers, files(answers))

    def in_the_way(self, *, keep: bool) -> list[str]:
        """Files that exist. Raises: Refused: there are some, and they may not be kept."""
        found = write.existing(self.root, self.files)
        if found and not keep:
            fix = "choose another directory, or add --keep-existing to write the other files only"
            raise Refused(f"files are in the way, so nothing was written: {listed(found, most=100)}", fix)
        return found

    def paths(self, kept: list[str]) -> list[str]:
        """What is written."""
        return sorted([*(path for path in self.files if path not in kept), NAME])

    def contents(self, kept: list[str]) -> dict[str, str]:
        """What is written, with the texts."""
        written = self._with_record(kept)
        return {path: written[path].text for path in self.paths(kept)}

    def write(self, kept: list[str]) -> None:
        """Write all files but those that are kept. Raises: Refused: one cannot be written; then none is."""
        written = self._with_record(kept)
        write.create(self.root, {path: written[path] for path in self.paths(kept)})

    def _with_record(self, kept: list[str]) -> dict[str, File]:
        record = record_of(self.answers, self.files, frozenset(kept))
        return {**self.files, NAME: File(record.text())}


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
    return sorted([*(change for change in found if change), *obsolete], key=lambda change: change.path)


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
    open_edits = {change.path for change in found if change.kind is Kind.EDITED} - set(keep)
    hashes: dict[str, str | None] = {}
    for path, file in files.items():
        old = record.files.get(path)
        if path in record.files and (old is None or path in open_edits):
            hashes[path] = old
        elif path not in open_edits:  # a new file that was in the way has no hash
            hashes[path] = blob(file.text.encode())
    return replace(record, version=__version__, files=hashes)


@dataclass(frozen=True, slots=True)
class Existing:
    """files: what this version writes for the project's answers."""

    root: Path
    record: Record
    files: dict[str, File]

    @staticmethod
    def read(root: Path) -> Existing:
        """Raises: Refused: the directory holds no project that `init` made."""
        found = write.content(root, NAME)
        if found is None:
            if (root / FLEET).exists():
                raise Refused(
                    f"{root / FLEET} was not made by `tenantry init`: there is no {NAME}", "upgrade it by hand"
                )
            raise Refused(f"there is no project in {root}", "run `tenantry init` to make one")
        record = read(found.decode(errors="replace"))
        return Existing(root, record, files(record.answers))

    def changes(self) -> list[Change]:
        """What this version would change."""
        return changes(self.record, self.files, lambda path: write.content(self.root, path), self._recall)

    def merged(self, change: Change) -> Change:
        """An edited file with both changes, if they merge without a conflict; every other change as it is."""
        if change.kind is not Kind.EDITED or None in (change.before, change.written, change.after):
            return change
        assert change.after is not None
        with tempfile.TemporaryDirectory() as scratch:
            sides = [Path(scratch, name) for name in ("ours", "base", "theirs")]
            for side, text in zip(sides, (change.before, change.written, change.after.text), strict=True):
                side.write_text(text or "", encoding="utf-8", newline="")
            done = Repository(self.root).run("merge-file", "-p", *map(str, sides))
        if done.returncode != 0:
            return change
        return replace(change, kind=Kind.MERGED, after=replace(change.after, text=done.stdout.decode()))

    def apply(self, found: Iterable[Change], keep: Iterable[str]) -> None:
        """Write what is to be written, then the record. Raises: Refused: a file cannot be written."""
        found, keep = list(found), frozenset(keep)
        for change in found:
            if change.is_written and change.path not in keep and change.after:
                write.replace(self.root, change.path, change.after)
        record = upgraded(self.record, self.files, found, keep)
        if record != self.record:
            write.replace(self.root, NAME, File(record.text()))

    def _recall(self, hashed: str) -> bytes | None:
        """What was written before, if it was ever committed."""
        if not re.fullmatch("[0-9a-f]{40}", hashed):
            return None
        try:
            found = Repository(self.root).run("cat-file", "blob", hashed)
        except Refused:
            return None
        return found.stdout if found.returncode == 0 else None
