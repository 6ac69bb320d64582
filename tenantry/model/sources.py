"""Sources: where manifests and charts come from, and the credentials and configs that Flux reads beside them."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from tenantry.messages.data import mappings_in
from tenantry.messages.redact import shorten
from tenantry.model.durations import Duration, ShortDuration
from tenantry.model.flux import FluxBlock, FluxMetadata
from tenantry.model.scalars import CredentialsName, DataKey, RegistryHost, SourcePath, Text, path_problem, refusal
from tenantry.model.strict import Fillable, OneOf

_CREDENTIALS = "the fleet sets it from 'credentials' beside the block"
_ACCOUNT = "Flux would use the rights of any service account beside the clusters' keys"


class GitRef(OneOf):
    one_of = ("branch", "tag", "semver", "name")
    # Flux fetches the branch beside a commit only.
    lifted_by = "commit"

    branch: Text | None = None
    """The head of a branch."""
    tag: Text | None = None
    """A tag."""
    semver: Text | None = None
    """The newest tag in a range of versions, for example `>=1.0.0 <2.0.0`."""
    name: Text | None = None
    """A full reference, for example `refs/pull/420/head`."""
    commit: Text | None = None
    """A commit, with all of its 40 or 64 digits. With `branch` beside it, Flux fetches only that branch."""


class Git(FluxBlock):
    """A Git repository."""

    flux_kind = "GitRepository"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}

    url: Text
    """The address of the repository: http, https or ssh."""
    ref: GitRef
    """What to check out."""
    interval: Fillable[Duration] = "5m"
    """How often to look for a new revision."""
    timeout: Fillable[ShortDuration] = "60s"
    """How long one fetch may take."""
    sparseCheckout: list[SourcePath] | None = None
    """The only directories to fetch."""

    @model_validator(mode="after")
    def _includes_within_both_sources(self) -> Self:
        for entry in mappings_in(self.flux.get("include")):
            for path in (entry.get(key) for key in ("fromPath", "toPath")):
                if isinstance(path, str) and (why := path_problem(path)):
                    raise refusal("bad-path", f"path '{shorten(path)}' of 'include' {why}")
        return self


class OciRef(OneOf):
    one_of = ("tag", "semver", "digest")
    # Tools that update both write a digest beside its tag. Flux takes the digest.
    lifted_by = "digest"

    tag: Text | None = None
    """A tag. Registries take no `+`: `helm push` writes `_` for it."""
    semver: Text | None = None
    """The newest tag in a range of versions, for example `1.2.x`."""
    digest: Text | None = None
    """The digest of an artifact: `sha256:` and 64 digits. Beside it, a `tag` is for readers alone."""
    semverFilter: Text | None = None
    """A regular expression for the tags that `semver` considers."""

    @model_validator(mode="after")
    def _versions_are_looked_for(self) -> Self:
        if self.semver is not None and self.digest is not None:
            raise refusal("bad-combination", "'semver' has no effect beside 'digest'", fix="keep one of them")
        if self.semverFilter is not None and self.semver is None:
            raise refusal(
                "bad-combination", "'semverFilter' has no effect without 'semver'", fix="remove it, or add 'semver:'"
            )
        return self


class Oci(FluxBlock):
    """An artifact in an OCI registry: manifests, or one chart."""

    flux_kind = "OCIRepository"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}

    url: Text
    """`oci://HOST/PATH`, without a tag."""
    ref: OciRef
    """The artifact to fetch."""
    interval: Fillable[Duration] = "5m"
    """How often to look for a new revision."""
    timeout: Fillable[ShortDuration] = "60s"
    """How long one fetch may take."""


class HelmRepository(FluxBlock):
    """A Helm repository."""

    flux_kind = "HelmRepository"
    owned = {"accessFrom": "Flux does not act on it", "secretRef": _CREDENTIALS}

    url: Text
    """`https://`, `http://`, or `oci://` with `type: oci`."""
    type: Fillable[Literal["default", "oci"]] = "default"
    """`default` reads the charts from an index, `oci` from an OCI registry."""
    interval: Fillable[Duration] = "10m"
    """How often to read the index."""
    timeout: Fillable[ShortDuration] = "60s"
    """How long one fetch may take."""


class Bucket(FluxBlock):
    """A bucket in an object store."""

    flux_kind = "Bucket"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}

    bucketName: Text
    """The name of the bucket."""
    endpoint: Text
    """`HOST` or `HOST:PORT` of the object store."""
    interval: Fillable[Duration] = "5m"
    """How often to look for changes."""
    timeout: Fillable[ShortDuration] = "60s"
    """How long one fetch may take."""


class Source(OneOf):
    """A place that apps take manifests or charts from."""

    one_of = ("git", "oci", "helm", "bucket")

    git: Git | None = None
    """A Git repository, for manifests or for charts in a directory."""
    oci: Oci | None = None
    """An artifact in an OCI registry, for manifests, or one chart as a whole."""
    helm: HelmRepository | None = None
    """A Helm repository, for charts."""
    bucket: Bucket | None = None
    """A bucket, for manifests or for charts in a directory."""
    credentials: CredentialsName | None = None
    """The declared credentials that Flux uses to fetch the source."""
    metadata: FluxMetadata | None = None
    """Labels and annotations of the source's Flux object. An included file may set keys with granted prefixes."""

    @model_validator(mode="before")
    @classmethod
    def _under_its_kind(cls, value: Any) -> Any:
        """`{type: git, url: ...}` is one mistake, not one for each key."""
        if isinstance(value, dict) and not value.keys() & SOURCE_KINDS.keys() and value.keys() & {"type", "url"}:
            keys = " and ".join(f"'{key}:'" for key in ("type", "url") if key in value)
            text = f"{keys} stand{'s' if len(keys) < 8 else ''} beside the source's kind instead of under it"
            raise refusal("unknown-key", text, fix=f"write {{{_form_of(value)}}}")
        return value

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
}
"""The keys of a source of which one is given."""


def _form_of(source: dict[str, Any]) -> str:
    """A source of the kind that `type:` or the URL of a source in another form means."""
    meant = f"{source.get('type')} {source.get('url')}".lower()
    if "helm" in meant:
        return "helm: {url: ...}"
    return "oci: {url: ..., ref: {tag: ...}}" if "oci" in meant else "git: {url: ..., ref: {branch: main}}"


class Credentials(OneOf):
    """A Secret that sources, apps, alerts and receivers can name."""

    one_of = ("keys", "registry", "existing")

    keys: Annotated[list[DataKey], Field(min_length=1)] | None = None
    """The keys of the Secret, as Flux reads them. Their values are in the stack's secret config."""
    registry: RegistryHost | None = None
    """The host of a registry of images or charts. Its `username` and `password` are in the stack's secret config."""
    existing: Literal[True] | None = None
    """The Secret already exists, or is created by other means, under the expected name."""

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        if self.keys and len(set(self.keys)) < len(self.keys):
            raise refusal("duplicate", "a key is listed twice", fix="remove one of them")
        return self


class Config(OneOf):
    """A ConfigMap that apps can name."""

    one_of = ("data", "existing")

    data: Annotated[dict[DataKey, str], Field(min_length=1)] | None = None
    """The data of the ConfigMap. Placeholders are filled in."""
    existing: Literal[True] | None = None
    """The ConfigMap already exists, or is created by other means, under the expected name."""
