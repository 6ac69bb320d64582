"""Blocks whose keys are Flux's own: `kustomize:` and `helm:`, as written and as merged for one placement."""

import posixpath
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core.core_schema import ValidationInfo

from tenantry.messages.redact import shorten
from tenantry.model.durations import Duration
from tenantry.model.scalars import (
    DirectoryPath,
    LabelKey,
    LabelValue,
    Name,
    Refers,
    SourcePath,
    SubstituteValue,
    Text,
    refusal,
)
from tenantry.model.strict import Fillable, Model

SET_BY_FLEET = "the fleet sets it"
"""How the reason of a key begins that the fleet sets, mostly from another part of the file."""

SET_FOR_APPS = {
    "dependsOn": "the fleet sets it from 'dependsOn' of the app",
    "kubeConfig": "the fleet sets it for each cluster the app is placed on",
    "serviceAccountName": "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's",
    "sourceRef": "the fleet sets it from 'source'",
}
"""Keys of Kustomizations and HelmReleases that no author may set, and why."""


class FluxBlock(Model):
    """A block whose keys are those of a Flux kind's spec.

    Fields are the keys that mean more to the fleet than to Flux; all others are Flux's, and checked against its schema by
    `tenantry.fleet.blocks`, so that a new version of Flux brings its keys along.
    """

    model_config = ConfigDict(extra="allow")

    flux_kind: ClassVar[str]
    of_one_app: ClassVar[tuple[str, ...]] = ()
    """Keys that each app says itself: a block for all apps of a tenant has none of them."""
    parts: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Keys that belong to another kind, which the plan makes beside this one."""

    @property
    def flux(self) -> dict[str, Any]:
        """What was written of Flux's own keys."""
        return {key: value for key, value in self._extra.items() if key not in self.foreign_keys()}

    def part(self, kind: str) -> dict[str, Any]:
        """What was written of another kind's keys."""
        return {key: self._extra[key] for key in self.parts[kind] if key in self._extra}

    @property
    def _extra(self) -> dict[str, Any]:
        return self.model_extra or {}

    @classmethod
    def foreign_keys(cls) -> set[str]:
        """All keys that belong to other kinds."""
        return {key for keys in cls.parts.values() for key in keys}


class CommonMetadata(Model):
    labels: dict[LabelKey, Fillable[LabelValue] | None] | None = None
    """Labels for every object of the app."""
    annotations: dict[LabelKey, str | None] | None = None
    """Annotations for every object of the app."""


class FluxMetadata(Model):
    """Labels and annotations of the Flux object itself, on the management cluster."""

    labels: dict[LabelKey, Fillable[LabelValue] | None] | None = None
    """Labels of the Flux object. Labels that Tenantry, Flux and Helm set themselves are refused."""
    annotations: dict[LabelKey, str | None] | None = None
    """Annotations of the Flux object. Annotations that Tenantry, Flux and Pulumi set themselves are refused."""


_NAMESPACES = "the fleet sets it: a tenant's namespaces are its baseline's, an add-on's are made when needed"


class HelmPatch(FluxBlock):
    """The HelmRelease of an app. It takes all fields of Flux's spec; in an override `null` removes a value.

    A failed install or upgrade is retried every `retryInterval` of the tenant, unless its `strategy` or
    `remediation` says otherwise. Flux corrects drift, but leaves alone what autoscalers and, of add-ons, injectors of CA
    bundles write, unless `driftDetection` says otherwise. An add-on's upgrade replaces the chart's CRDs, unless
    `upgrade.crds` says otherwise or `install` skips them.
    """

    flux_kind = "HelmRelease"
    owned = {
        **SET_FOR_APPS,
        "chartRef": "the fleet sets it from 'source', 'chart' and 'version'",
        "install.createNamespace": _NAMESPACES,
    }
    parts = {"HelmChart": ("ignoreMissingValuesFiles", "reconcileStrategy", "verify")}
    of_one_app = (
        *(
            "chart",
            "chartInterval",
            "releaseName",
            "source",
            "storageNamespace",
            "targetNamespace",
            "valuesFiles",
            "version",
        ),
        *parts["HelmChart"],
    )

    source: Annotated[str, Refers("sources")] | None = None
    """A source of the tenant. An add-on names one of `platform.sources`, or omits this key and has a `source` of its own."""
    chart: Text | None = None
    """The chart's name in a Helm repository, or its directory in a Git repository."""
    version: Text | None = None
    """A version or a range, for example `1.2.x`. Required with a Helm repository, refused with a Git repository."""
    valuesFiles: list[SourcePath] | None = None
    """Values files in the source; later files take precedence. Default: the chart's own. `values` takes precedence
    over them."""
    values: dict[str, Any] | None = None
    """The chart's values. Placeholders are filled in; `null` removes a value of a less specific layer."""
    interval: Fillable[Duration] | None = None
    """How often the release is reconciled. Default: the tenant's `interval`."""
    chartInterval: Fillable[Duration] | None = None
    """How often Flux looks for a new version of the chart, or for a new revision of its source. Default: the tenant's `interval`.
    An app that sets it has a HelmChart of its own; others share one for each source, chart and version."""
    timeout: Fillable[Duration] | None = None
    """How long one Helm action may take. Default: the tenant's `timeout`."""
    releaseName: Fillable[Name] | None = None
    """The name of the Helm release, at most 53 characters. Default: the app's name. A changed name uninstalls the old
    release and installs a new one."""
    targetNamespace: Fillable[Name] | None = None
    """The namespace to install into: one of the tenant's, by key or name. Default: the main one. An add-on may name
    any namespace; it is created if needed."""
    storageNamespace: Fillable[Name] | None = None
    """The namespace in which Helm stores the release: one of the tenant's, by key or name. Default: the main one. Another one
    uninstalls the release and installs a new one."""
    commonMetadata: CommonMetadata | None = None
    """Labels and annotations for every object."""


def _detecting_drift(written: Any) -> Any:
    """Flux leaves drift alone unless it is told otherwise; what to ignore does not mean to stop looking."""
    return {"mode": "enabled", **written} if isinstance(written, dict) else written


class Helm(HelmPatch):
    """A complete `helm:` block of one placement."""

    driftDetection: Annotated[dict[str, Any], BeforeValidator(_detecting_drift)] = {"mode": "enabled"}


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
    substitute: dict[Annotated[str, Field(pattern=r"^[_A-Za-z][_A-Za-z0-9]*$")], SubstituteValue | None] | None = None
    """Values for `${NAME}` in the built manifests."""
    substituteFrom: list[SubstituteFrom] | None = None
    """More values, from declared credentials and configs. `substitute` takes precedence."""
    substituteStrategy: Fillable[Literal["WithVariables", "Always"]] | None = None
    """`Always` substitutes even if no value is given here."""


class KustomizePatch(FluxBlock):
    """The Kustomization of an app. It takes all fields of Flux's spec; in an override `null` removes a value."""

    flux_kind = "Kustomization"
    owned = {
        **SET_FOR_APPS,
        "decryption.serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }
    of_one_app = ("components", "namePrefix", "nameSuffix", "path", "source", "targetNamespace")

    source: Annotated[str, Refers("sources")] | None = None
    """A source of the tenant. An add-on names one of `platform.sources`, or omits this key and has a `source` of its own."""
    path: DirectoryPath | None = None
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
_LIKE_A_HOST = re.compile(r"[^./][^/]*\.[A-Za-z][A-Za-z-]+/")
"""The last part of a host's name has letters alone, that of a version such as `v1.2` does not."""


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

    path: DirectoryPath = "./"
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
