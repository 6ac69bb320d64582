"""Finds files by a pattern in bounded time, and where a file really is: a symlink may not lead out of its repository."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import translate
from itertools import islice
from pathlib import Path

MAX_ENTRIES = 100_000
"""The most files and directories that one pattern may visit."""
MAX_DEPTH = 32
"""The most levels of directories."""
_MAGIC = re.compile(r"[*?[]")


class TooManyFiles(Exception):
    """A pattern visits too many files, or too many levels of directories."""


def has_wildcard(pattern: str) -> bool:
    """Whether a pattern can match several paths."""
    return bool(_MAGIC.search(pattern))


def matching(pattern: str, directory: Path) -> list[str]:
    """The paths below a directory that match a pattern, relative to it and sorted.

    `**` matches any directories, but does not follow symlinks. Only a part that starts with a dot matches hidden files.
    Raises: TooManyFiles.
    """
    parts = [part for part in Path(pattern).parts if part != "."]
    # `**/**` takes what `**` takes.
    once = [part for part, below in zip(parts, [*parts, ""][1:], strict=True) if (part, below) != ("**", "**")]
    return sorted(set(_Search(directory).run("", once)))


class _Search:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.entries = 0

    def run(self, at: str, parts: list[str]) -> Iterator[str]:
        """The matches of the rest of a pattern below a directory."""
        if not parts:
            return
        if at.count("/") > MAX_DEPTH:
            raise TooManyFiles
        first, *rest = parts
        if first == "**":
            yield from self.run(at, rest or ["*"])
            for entry in self._entries(at):
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    yield from self.run(f"{at}{entry.name}/", parts)
        elif not _MAGIC.search(first):
            yield from self._step(f"{at}{first}", rest)
        else:
            matches = re.compile(translate(first)).match
            for entry in self._entries(at):
                if matches(entry.name) and (first.startswith(".") or not entry.name.startswith(".")):
                    yield from self._step(f"{at}{entry.name}", rest)

    def _step(self, path: str, rest: list[str]) -> Iterator[str]:
        if rest:
            yield from self.run(f"{path}/", rest)
        elif os.path.lexists(self.directory / path):
            yield path

    def _entries(self, at: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.directory / at) as scanned:
                entries = [*islice(scanned, MAX_ENTRIES + 1)]
        except OSError:  # not a directory, or not readable
            return []
        self.entries += len(entries)
        if self.entries > MAX_ENTRIES:
            raise TooManyFiles
        return entries


GIT = ".git"
"""Where Git keeps what is its own, such as the token with which a build server fetched the repository."""


def problem_of(file: Path) -> str | None:
    """Why a file may not be read, as the words behind its name; None: it may be, or it is in no repository."""
    written, real = Path(os.path.normpath(file.absolute())), file.resolve()
    top = _repository_of(written)
    if top is None:
        return None
    if any(part.lower() == GIT for part in written.relative_to(top).parts):
        return "is one of Git's own files"
    if real == written:
        return None
    whole = top.resolve()
    if not real.is_relative_to(whole):
        return "is a symlink, or behind one, that leads out of its repository"
    if any(part.lower() == GIT for part in real.relative_to(whole).parts):
        return "is a symlink to one of Git's own files"
    return None if real.is_file() or not real.exists() else "is a symlink to something that is no file"


def _repository_of(file: Path) -> Path | None:
    """The directory of the repository around a file, by its path as it is written."""
    return next(
        (parent for parent in file.parents if os.path.lexists(parent / GIT) and parent.name.lower() != GIT), None
    )
