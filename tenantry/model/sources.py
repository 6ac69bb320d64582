"""Sources: where manifests and charts come from."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from tenantry.model.strict import Model, exactly_one
from tenantry.scalars import Duration, ShortDuration, SourcePath, Text


class GitRef(Model):
    branch: Text | None = None
    """The head of a branch."""
    tag: Text | None = None
    """A tag."""
    semver: Text | None = None
    """The newest tag in a range of versions, as in `>=1.0.0 <2.0.0`."""
    name: Text | None = None
    """A full reference, as in `refs/pull/420/head`."""
    commit: Text | None = None
    """A commit. A `branch` beside it tells Flux where to find it."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        # A commit may stand beside a branch: Flux then fetches that branch only.
        exactly_one(self, "branch", "tag", "semver", "name") if self.commit is None else None
        return self


class Git(Model):
    url: str
    """Of the repository: http, https or ssh."""
    ref: GitRef
    """What to check out."""
    interval: Duration = "5m"
    """How often Flux looks for something new."""
    timeout: ShortDuration = "60s"
    """How long fetching may take."""
    ignore: str | None = None
    """What to leave out, in the form of a .gitignore file."""
    recurseSubmodules: bool | None = None
    """`true`: fetch submodules too."""
    sparseCheckout: list[SourcePath] | None = None
    """Directories to check out; without it all."""


class HelmRepository(Model):
    url: str
    """Of the repository: http, https or oci."""
    type: Literal["default", "oci"] = "default"
    """`oci` for URLs that begin with oci."""
    interval: Duration = "10m"
    """How often Flux fetches the index."""
    timeout: ShortDuration = "60s"
    """How long fetching may take."""


class Source(Model):
    git: Git | None = None
    """A Git repository, for manifests or charts."""
    helm: HelmRepository | None = None
    """A Helm repository, for charts."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "git", "helm")
        return self
