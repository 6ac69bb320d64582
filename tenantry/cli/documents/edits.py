"""The document of the commands that edit tenants.yaml."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import Document, FileProblem, Part
from tenantry.cli.documents.diff import ChangedEnvironment


class EditedFile(Part):
    """A file that an edit changes."""

    file: str
    diff: str
    """The change as a unified diff. Secrets are hidden in it."""


class Edit(Document):
    """An edit of the fleet's files: `tenantry set` and its like."""

    kind: Literal["Edit"] = "Edit"
    edits: list[str]
    """What was edited, a sentence for each edit; empty if the files say so already."""
    written: bool = False
    """Whether the files are written: not with `--dry-run`, and not if nothing changes."""
    files: list[EditedFile] = []
    """The files that change."""
    valid: bool = True
    """Whether the edited fleet is valid. An invalid fleet can be edited if the edit adds no error."""
    errors: list[FileProblem] = []
    """The errors that the fleet had before, and still has. Their lines are those of the edited files."""
    warnings: list[FileProblem] = []
    """The warnings that the fleet did not have before."""
    environments: list[ChangedEnvironment] = []
    """What the edit changes on clusters, as in a document of kind Diff; empty if the fleet is invalid."""
    unchanged: list[str] = []
    """The environments without a difference."""
