"""The document of the commands that edit tenants.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tenantry.cli.documents.common import OMITTED_IF_NULL, Document, FileProblem, OfApp, Part, TextOrNull
from tenantry.cli.documents.diff import ChangedEnvironment


class EditedFile(Part):
    """A file that an edit changes."""

    file: str
    diff: str
    """The change as a unified diff. Secrets are hidden in it."""


class PromotedApp(OfApp):
    """What the first environment's management cluster says of an app on a cluster."""

    runs: bool
    """Whether it runs what is promoted, and is ready."""
    problem: str
    """Why it does not; empty if it does."""
    revision: str
    """What Flux applied."""
    since: TextOrNull
    """Since when it runs and is ready (RFC 3339), if that is known."""


class PromotionEvidence(Part):
    """Whether the first environment runs what is promoted."""

    checked: bool
    reason: str
    """Why nothing was checked; empty if it was."""
    apps: list[PromotedApp]


class Promotion(Part):
    """What `tenantry promote` found."""

    from_: str = Field(alias="from")
    """The environment whose versions are taken."""
    to: str
    evidence: PromotionEvidence
    different: list[str]
    """The settings that stay different."""


class UpdatedPart(Part):
    """A version in the file, and what takes it."""

    of: list[str]
    """What it is a version of, such as `chart web` or `tag of source rocky/manifests`."""
    variable: str | None
    """The variable that holds it; `null` if the version itself is written."""
    apps: list[str]
    """`TENANT/APP` and `platform/ADDON`."""
    environments: list[str]


class RaisedVersion(UpdatedPart):
    """A version that is raised or pinned."""

    place: str
    """`file:line:column` before the edit."""
    from_: str = Field(alias="from")
    """The version before; with `--pin` the range."""
    to: str


class VersionBeyond(UpdatedPart):
    """A version that is newer than the range or `--to` allows."""

    version: str


class UnaskedSources(Part):
    """Sources that cannot be asked, for the same reason."""

    kind: str
    """Their kind in Flux."""
    sources: list[str]
    """`TENANT/SOURCE` and `platform/ADDON`."""
    reason: str
    fix: str


class LeftApps(Part):
    """Apps that `tenantry update` leaves alone."""

    reason: str
    """What they have instead of a version, such as a commit or a branch."""
    apps: list[str]


class Updates(Part):
    """What `tenantry update` found."""

    raised: list[RaisedVersion]
    beyond: list[VersionBeyond]
    unasked: list[UnaskedSources]
    left: list[LeftApps]
    notes: list[str]
    """What is not edited although there is a newer version."""


class Edit(Document):
    """An edit of the fleet's files: `tenantry set` and its like."""

    kind: Literal["Edit"] = "Edit"
    edits: list[str]
    """What was edited, a sentence for each edit; empty if the files say so already."""
    hints: list[str] = []
    """What to do before the next `tenantry up`, if the edit changes clusters."""
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
    promotion: Annotated[Promotion | None, OMITTED_IF_NULL] = None
    """Only of `tenantry promote`."""
    updates: Annotated[Updates | None, OMITTED_IF_NULL] = None
    """Only of `tenantry update`."""
