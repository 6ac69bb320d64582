"""The documents of commands that write a project's files."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import Document, Part


class Project(Document):
    """A new project for a fleet: `tenantry init`."""

    kind: Literal["Project"] = "Project"
    directory: str
    written: bool
    """`false` with `--dry-run`."""
    files: list[str]
    """What is written, by path in the directory."""
    kept: list[str]
    """Files that exist and stay as they are."""
    next: list[str]
    """Commands that come next, in their order."""


class FileChange(Part):
    """A file that this version writes differently."""

    path: str
    kind: Literal["add", "update", "merged", "edited", "deleted", "obsolete", "kept"]
    """`add`, `update` and `merged` are written. The others stay as they are: `edited` and `deleted` by their owner, `obsolete` if
    this version has no such file, `kept` with `--keep`."""
    diff: str
    """What this version writes differently. Empty for a file that stays deleted, and for one that is not written any more."""


class Upgrade(Document):
    """What this version would write differently into a project: `tenantry upgrade`."""

    kind: Literal["Upgrade"] = "Upgrade"
    made: str
    """The version that wrote the project's files last."""
    running: str
    """The version that would write them now."""
    written: bool
    """`false` with `--dry-run` and `--check`."""
    changes: list[FileChange]
    """By path."""
