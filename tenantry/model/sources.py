"""Sources: where manifests and charts come from.

A block's keys are those of Flux's kind; fields here are the ones that mean more to the fleet or have a default of its own.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from tenantry.model.fillable import Fillable
from tenantry.model.flux import FluxBlock
from tenantry.model.scalars import Duration, Name, ShortDuration, SourcePath, Text, refusal
from tenantry.model.strict import Model, exactly_one

_CREDENTIALS = "the fleet sets it from 'credentials' beside the block"
_ACCOUNT = "Flux would use the rights of any service account beside the clusters' keys"


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


class Git(FluxBlock):
    """A Git repository."""

    flux_kind = "GitRepository"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}

    url: Text
    """Of the repository: http, https or ssh."""
    ref: GitRef
    """What to check out."""
    interval: Fillable[Duration] = "5m"
    """How often to look for a new revision."""
    timeout: Fillable[ShortDuration] = "60s"
    """For how long one fetch may last."""
    sparseCheckout: list[SourcePath] | None = None
    """The only directories to fetch."""


class OciRef(Model):
    tag: Text | None = None
    """A tag."""
    semver: Text | None = None
    """The newest tag in a range of versions, as in `1.2.x`."""
    digest: Text | None = None
    """One artifact by its digest, as in `sha256:...`."""
    semverFilter: Text | None = None
    """A regular expression for the tags that `semver` chooses from."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "tag", "semver", "digest")
        if self.semverFilter is not None and self.semver is None:
            raise refusal("bad-combination", "'semverFilter' is only of use beside 'semver'")
        return self


class Oci(FluxBlock):
    """An artifact in a registry of images: manifests, or one chart."""

    flux_kind = "OCIRepository"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}

    url: Text
    """`oci://HOST/PATH`, without a tag."""
    ref: OciRef
    """Which artifact to take."""
    interval: Fillable[Duration] = "5m"
    """How often to look for a new revision."""
    timeout: Fillable[ShortDuration] = "60s"
    """For how long one fetch may last."""


class HelmRepository(FluxBlock):
    """A repository of charts."""

    flux_kind = "HelmRepository"
    owned = {"accessFrom": "Flux does not act on it", "secretRef": _CREDENTIALS}

    url: Text
    """`https://`, `http://`, or `oci://` with `type: oci`."""
    type: Fillable[Literal["default", "oci"]] = "default"
    """Whether the charts are listed in an index or lie in a registry of images."""
    interval: Fillable[Duration] = "10m"
    """How often to read the index."""
    timeout: Fillable[ShortDuration] = "60s"
    """For how long one fetch may last."""


class Bucket(FluxBlock):
    """A bucket of an object store."""

    flux_kind = "Bucket"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}

    bucketName: Text
    """The bucket."""
    endpoint: Text
    """`HOST` or `HOST:PORT` of the object store."""
    interval: Fillable[Duration] = "5m"
    """How often to look for changes."""
    timeout: Fillable[ShortDuration] = "60s"
    """For how long one fetch may last."""


class ExternalArtifact(FluxBlock):
    """An artifact that a controller outside of Flux makes."""

    flux_kind = "ExternalArtifact"
    owned = {"sourceRef.namespace": "nothing of a tenant refers to another namespace"}


class Source(Model):
    """One place that apps take manifests or charts from."""

    git: Git | None = None
    """A Git repository, for manifests or for charts that are folders."""
    oci: Oci | None = None
    """An artifact in a registry, for manifests, or for one chart as a whole."""
    helm: HelmRepository | None = None
    """A Helm repository, for charts."""
    bucket: Bucket | None = None
    """A bucket, for manifests or for charts that are folders."""
    externalArtifact: ExternalArtifact | None = None
    """What a controller outside of Flux makes, for manifests, or for one chart as a whole."""
    credentials: Name | None = None
    """Which of the declared credentials Flux uses to fetch it."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "git", "oci", "helm", "bucket", "externalArtifact")
        if self.externalArtifact is not None and self.credentials is not None:
            raise refusal("bad-combination", "Flux does not fetch an external artifact, so it needs no credentials")
        return self

    @property
    def kind(self) -> str:
        """Which of the keys is given."""
        return next(kind for kind in SOURCE_KINDS if getattr(self, kind) is not None)

    @property
    def block(self) -> FluxBlock:
        """What is given under it."""
        block: FluxBlock = getattr(self, self.kind)
        return block


SOURCE_KINDS: dict[str, type[FluxBlock]] = {
    "git": Git,
    "oci": Oci,
    "helm": HelmRepository,
    "bucket": Bucket,
    "externalArtifact": ExternalArtifact,
}
"""The keys of a source of which one is given."""
