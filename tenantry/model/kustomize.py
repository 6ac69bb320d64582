"""`kustomize:` blocks.

Overrides complete a block, so it may be partial. The file is checked against `KustomizePatch`, and each placement, after merging,
against `Kustomize`.
"""

import posixpath
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core.core_schema import ValidationInfo

from tenantry.messages.redact import shorten
from tenantry.model.fillable import Fillable
from tenantry.model.flux import SET_FOR_APPS, CommonMetadata, FluxBlock
from tenantry.model.scalars import Duration, Name, Refers, SourcePath, VariableValue, refusal
from tenantry.model.strict import Model


class Image(Model):
    name: str
    """The image in the manifests, without the tag."""
    newName: str | None = None
    """The new image name."""
    newTag: str | None = None
    """The new tag."""
    digest: str | None = None
    """The new digest; takes precedence over a tag."""


class PatchTarget(Model):
    group: str | None = None
    """API group."""
    version: str | None = None
    """API version."""
    kind: str | None = None
    """Kind."""
    name: str | None = None
    """Name; a regular expression."""
    namespace: str | None = None
    """Namespace; a regular expression."""
    labelSelector: str | None = None
    """Labels, for example `tier=web`."""
    annotationSelector: str | None = None
    """Annotations, for example `tier=web`."""


class Patch(Model):
    patch: str
    """A strategic merge patch, or a list of JSON patch operations, as text."""
    target: PatchTarget | None = None
    """The objects to patch. Default: the object that the patch names."""


class SubstituteFrom(Model):
    kind: Fillable[Literal["Secret", "ConfigMap"]]
    """The kind of the object."""
    name: Name
    """One of the declared credentials (Secret) or configs (ConfigMap)."""
    optional: bool | None = None
    """Whether the object may be missing. Default: false."""


class PostBuild(Model):
    substitute: dict[Annotated[str, Field(pattern=r"^[_A-Za-z][_A-Za-z0-9]*$")], VariableValue | None] | None = None
    """Values for `${NAME}` in the built manifests."""
    substituteFrom: list[SubstituteFrom] | None = None
    """More values, from declared credentials and configs. `substitute` takes precedence."""
    substituteStrategy: Fillable[Literal["WithVariables", "Always"]] | None = None
    """`Always` substitutes even if no value is given here."""


class KustomizePatch(FluxBlock):
    """A `kustomize:` block as written. Overrides may complete it; `null` removes a value."""

    flux_kind = "Kustomization"
    owned = {
        **SET_FOR_APPS,
        "decryption.serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }

    source: Annotated[str, Refers("sources")] | None = None
    """A source of the tenant. Add-ons have their own source and omit this key."""
    path: SourcePath | None = None
    """The directory in the source to build."""
    interval: Fillable[Duration] | None = None
    """How often the app is reconciled. Default: the tenant's `interval`."""
    retryInterval: Fillable[Duration] | None = None
    """How soon a failed reconciliation is retried. Default: the tenant's `retryInterval`."""
    timeout: Fillable[Duration] | None = None
    """How long building, applying and waiting may take. Default: the tenant's `timeout`."""
    prune: bool | None = None
    """Whether objects that are no longer in the source are deleted."""
    wait: bool | None = None
    """Whether all applied objects must be ready before the app is ready. Default: true; false with `healthChecks`, which Flux
    would ignore."""
    force: bool | None = None
    """Whether objects with a changed immutable field are deleted and created again."""
    deletionPolicy: Fillable[Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"]] | None = None
    """What happens to the applied objects when the app is removed. `WaitForTermination` deletes them and waits,
    `Orphan` keeps them, `MirrorPrune` follows `prune`."""
    targetNamespace: Fillable[Name] | None = None
    """The namespace of namespaced objects: one of the tenant's, by key or name. Default: the main one; for an add-on,
    the one in the manifests."""
    namePrefix: str | None = None
    """A prefix for every object's name."""
    nameSuffix: str | None = None
    """A suffix for every object's name."""
    components: list[str] | None = None
    """Kustomize components, relative to `path`, inside the source."""
    images: list[Image] | None = None
    """Images to replace."""
    patches: list[Patch] | None = None
    """Patches on the built manifests."""
    postBuild: PostBuild | None = None
    """Substitution after building."""
    commonMetadata: CommonMetadata | None = None
    """Labels and annotations for every object."""


_COMPONENT = re.compile(r"(?:\.{1,2}|[A-Za-z0-9_+=,~-][A-Za-z0-9_.+=,~-]*)(?:/+[A-Za-z0-9_.+=,~-]+)*/*")
_LIKE_A_HOST = re.compile(r"[^./][^/]*\.[^/]*/")


def _in_the_source(component: str, info: ValidationInfo) -> str:
    """Refuse a component outside the source. Components are relative to the path, so "../shared" is often inside.

    Kustomize takes more than URLs for the address of a repository, such as `github.com/org/repo` and `git@host:repo`.
    """
    path = info.data.get("path", "./")  # missing where the path itself is wrong
    if not component.startswith("/") and (not _COMPONENT.fullmatch(component) or _LIKE_A_HOST.match(component)):
        what = f"component '{shorten(component)}' could be the address of a repository"
        raise refusal("bad-path", what, fix="write a directory of the source, such as './components/tls'")
    if component.startswith("/") or posixpath.normpath(posixpath.join(path, component)).startswith(".."):
        raise refusal("bad-path", f"component '{shorten(component)}' leaves the source")
    return component


class Kustomize(KustomizePatch):
    """A complete `kustomize:` block of one placement."""

    path: SourcePath = "./"
    prune: bool = True
    wait: bool = True
    deletionPolicy: Fillable[Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"]] = "WaitForTermination"
    components: list[Annotated[str, AfterValidator(_in_the_source)]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _named_health_checks_count(cls, value: Any) -> Any:
        """Flux ignores `healthChecks` where `wait` is true, so they are not ignored for a `wait` that nobody wrote."""
        checks = isinstance(value, dict) and value.get("healthChecks")
        return {"wait": False, **value} if checks else value
