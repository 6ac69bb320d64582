"""Where a file really is: a symlink in a repository may not lead out of it, nor to what Git keeps in it.

Whoever may propose a change to a repository can make any of its files a symlink, to a file of the machine that reads it. The
message about a mistake would show a line of that file.
"""

from __future__ import annotations

import os
from pathlib import Path

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
    return next((each for each in file.parents if os.path.lexists(each / GIT) and each.name.lower() != GIT), None)
