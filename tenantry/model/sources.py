"""Sources: where manifests and charts come from; the credentials and configs that Flux reads beside them; alerts about them, and
the webhooks that make Flux fetch them at once.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tenantry.messages.data import mappings_in
from tenantry.messages.redact import shorten
from tenantry.model.flux import NAMELESS, FluxBlock, Metadata, OneKey
from tenantry.model.scalars import (
    CredentialsName,
    DataKey,
    OwnAppName,
    RegistryHost,
    SourceName,
    SourcePath,
    Text,
    path_problem,
    refusal,
)
from tenantry.model.strict import OneOf

_CREDENTIALS = "the fleet sets it from 'credentials' beside the block"
_ACCOUNT = "Flux would use the rights of any service account beside the clusters' keys"


def _without_effect(value: dict[str, Any]) -> dict[str, Any]:
    """Refuses what Flux does not look at in the `ref` of an artifact."""
    if value.get("semver") is not None and value.get("digest") is not None:
        raise refusal("bad-combination", "'semver' has no effect beside 'digest'", fix="keep one of them")
    if value.get("semverFilter") is not None and value.get("semver") is None:
        fix = "remove it, or add 'semver:'"
        raise refusal("bad-combination", "'semverFilter' has no effect without 'semver'", fix=fix)
    return value


GitRef = Annotated[dict[str, Any], AfterValidator(OneKey(("branch", "tag", "semver", "name"), lifted_by="commit"))]
"""One of `branch`, `tag`, `semver`, such as `>=1.0.0 <2.0.0`, and `name`, such as `refs/pull/420/head`; or a `commit`, with all of
its 40 or 64 digits. With a `branch` beside it, Flux fetches that branch only."""
OciRef = Annotated[
    dict[str, Any],
    AfterValidator(OneKey(("tag", "semver", "digest"), lifted_by="digest", more=("semverFilter",))),
    AfterValidator(_without_effect),
]
"""One of `tag`, `semver`, such as `1.2.x`, and `digest`, which is `sha256:` and 64 digits. Tools that update both write a digest
beside its tag: Flux takes the digest, and the `tag` is for readers alone. `semverFilter` is a regular expression for the tags that
`semver` considers. Registries take no `+` in a tag: `helm push` writes `_` for it."""


class Git(FluxBlock):
    """A Git repository."""

    flux_kind = "GitRepository"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}
    defaults = {"interval": "5m", "timeout": "60s"}

    url: Text
    """The address of the repository: http, https or ssh."""
    ref: GitRef
    """What to check out."""

    sparseCheckout: list[SourcePath] | None = None
    """The only directories to fetch."""

    @model_validator(mode="after")
    def _includes_within_both_sources(self) -> Self:
        for entry in mappings_in(self.flux.get("include")):
            for path in (entry.get(key) for key in ("fromPath", "toPath")):
                if isinstance(path, str) and (why := path_problem(path)):
                    raise refusal("bad-path", f"path '{shorten(path)}' of 'include' {why}")
        return self


class Oci(FluxBlock):
    """An artifact in an OCI registry: manifests, or one chart."""

    flux_kind = "OCIRepository"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}
    defaults = {"interval": "5m", "timeout": "60s"}

    url: Text
    """`oci://HOST/PATH`, without a tag."""
    ref: OciRef
    """The artifact to fetch."""


class HelmRepository(FluxBlock):
    """A Helm repository."""

    flux_kind = "HelmRepository"
    owned = {"accessFrom": "Flux does not act on it", "secretRef": _CREDENTIALS}
    defaults = {"type": "default", "interval": "10m", "timeout": "60s"}

    url: Text
    """`https://`, `http://`, or `oci://` with `type: oci`."""


class Bucket(FluxBlock):
    """A bucket in an object store."""

    flux_kind = "Bucket"
    owned = {"secretRef": _CREDENTIALS, "serviceAccountName": _ACCOUNT}
    defaults = {"interval": "5m", "timeout": "60s"}

    bucketName: Text
    """The name of the bucket."""
    endpoint: Text
    """`HOST` or `HOST:PORT` of the object store."""


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
    metadata: Annotated[Metadata, NAMELESS] | None = None
    """Labels and annotations of the source's Flux object. An included file may set keys with granted prefixes."""

    @model_validator(mode="before")
    @classmethod
    def _under_its_kind(cls, value: Any) -> Any:
        """`{type: git, url: ...}` is one mistake, not one for each key."""
        if isinstance(value, dict) and not value.keys() & SOURCE_KINDS.keys() and value.keys() & {"type", "url"}:
            keys = " and ".join(f"'{key}:'" for key in ("type", "url") if key in value)
            text = f"{keys} stand{'s' if len(keys) < 8 else ''} beside the source's kind instead of under it"
            raise refusal("unknown-key", text, fix="write it under 'git:', 'oci:', 'helm:' or 'bucket:'")
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


# --- alerts and receivers -------------------------------------------------------------------------------------------

COMMIT_STATUS = frozenset({"azuredevops", "bitbucket", "bitbucketserver", "gitea", "github", "gitlab"})
"""Types of providers that set the status of a commit: they report Kustomizations alone, as a release knows no commit."""


class Provider(FluxBlock):
    """Where notifications go: a chat, a Git host, or a system that collects events."""

    flux_kind = "Provider"
    required = ("type",)
    owned = {
        "secretRef": "the fleet sets it from 'credentials' beside the provider",
        "serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }

    @property
    def type(self) -> str:
        """One of Flux's types, such as `slack`."""
        return str(self.flux["type"])


class Alert(FluxBlock):
    """Which events are sent, and to whom. By default, all events."""

    flux_kind = "Alert"
    owned = {
        "eventSources": "the fleet sets it from 'apps'",
        "providerRef": "the fleet sets it: the provider stands under 'provider'",
    }

    provider: Provider
    """Where the alert is sent. Takes every key of Flux's Provider, except those for Secrets and identities."""
    credentials: CredentialsName | None = None
    """The declared credentials that the provider uses. Their keys are Flux's, such as `token`, `address` and `headers`."""
    apps: Annotated[list[OwnAppName], Field(min_length=1)] | None = None
    """Limits the alert to these apps (for the platform's alerts: add-ons). Default: all apps and their sources."""


class Receiver(FluxBlock):
    """A webhook for a Git host or a registry. A call that Flux accepts makes it fetch the sources at once."""

    flux_kind = "Receiver"
    required = ("type",)
    owned = {
        "resources": "the fleet sets it from 'sources'",
        "secretRef": "the fleet sets it from 'credentials'",
    }

    sources: Annotated[list[SourceName], Field(min_length=1)] | None = None
    """Limits the receiver to these sources. Default: all sources that are used on the cluster."""
    credentials: CredentialsName | None = None
    """The declared credentials with the key `token`, which the sender has too; type `gcr` also needs `email` and `audience`."""

    @property
    def type(self) -> str:
        """One of Flux's types, such as `github`."""
        return str(self.flux["type"])
