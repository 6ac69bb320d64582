"""Sources: where manifests and charts come from."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from tenantry.model.strict import Model, exactly_one
from tenantry.scalars import Duration, ShortDuration, SourcePath, Text


class GitRef(Model):
    branch: Text | None = None
    tag: Text | None = None
    semver: Text | None = None
    name: Text | None = None
    commit: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        # A commit may stand beside a branch: Flux then fetches that branch only.
        exactly_one(self, "branch", "tag", "semver", "name") if self.commit is None else None
        return self


class Git(Model):
    url: str
    ref: GitRef
    interval: Duration = "5m"
    timeout: ShortDuration = "60s"
    ignore: str | None = None
    recurseSubmodules: bool | None = None
    sparseCheckout: list[SourcePath] | None = None


class HelmRepository(Model):
    url: str
    type: Literal["default", "oci"] = "default"
    interval: Duration = "10m"
    timeout: ShortDuration = "60s"


class Source(Model):
    git: Git | None = None
    helm: HelmRepository | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "git", "helm")
        return self
