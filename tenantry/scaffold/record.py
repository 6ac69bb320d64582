"""`.tenantry.yaml`: what was written into a project, so that a later version sees what its owner changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha1
from pathlib import PurePosixPath
from typing import Any

import yaml

from tenantry import __version__
from tenantry.messages.errors import Refused
from tenantry.scaffold.answers import Answers, from_data
from tenantry.scaffold.files import File

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
    hashes = {path: None if path in unmanaged else blob(each.text.encode()) for path, each in files.items()}
    return Record(__version__, answers, hashes)


def read(text: str) -> Record:
    """Raises: Refused: it is not a record."""
    try:
        content: Any = yaml.safe_load(text)
        files = {str(path): None if each is None else str(each) for path, each in content["files"].items()}
        if any(PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts for path in files):
            raise ValueError("a path leads out of the project")
        return Record(str(content["version"]), from_data(content["answers"]), files)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise Refused(f"{NAME} is damaged", "restore it from Git") from None


def blob(content: bytes) -> str:
    """The hash by which Git knows the content, so that a committed version can be found again."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
