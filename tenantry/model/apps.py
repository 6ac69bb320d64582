"""Apps: one Kustomization or HelmRelease on each cluster they are placed on.

Blocks may be partial, because overrides complete them: they are checked in their partial shape here (`KustomizePatch`), and in
their complete shape (`Kustomize`) once per placement, after merging.
"""

from __future__ import annotations

import posixpath
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from tenantry.messages.redact import shorten
from tenantry.model.clusters import Selector
from tenantry.model.fillable import Fillable
from tenantry.model.flux import FluxBlock
from tenantry.model.images import ImageAutomation
from tenantry.model.scalars import (
    AppName,
    Duration,
    LabelKey,
    LabelValue,
    Name,
    SourcePath,
    Text,
    VariableValue,
    refusal,
)
from tenantry.model.sources import Source
from tenantry.model.strict import Model, OneOf

_SOURCE_REF = "the fleet sets it from 'source'"
_KUBECONFIG = "the fleet sets it for each cluster the app is placed on"
_IDENTITY = "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's"
_DEPENDS_ON = "the fleet sets it from 'dependsOn' of the app"
_NAMESPACES = "the fleet sets it: a tenant's namespaces are its baseline's, an add-on's are made when needed"
_ACCOUNT = "Flux would use the rights of any service account beside the clusters' keys"
_STORAGE = "the fleet sets it: releases are stored in the namespace they install to"


State: TypeAlias = Literal["active", "paused", "offboarding"]


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


class CommonMetadata(Model):
    labels: dict[LabelKey, Fillable[LabelValue] | None] | None = None
    """Labels for every object of the app."""
    annotations: dict[LabelKey, str | None] | None = None
    """Annotations for every object of the app."""


class KustomizePatch(FluxBlock):
    """A `kustomize:` block as written. Overrides may complete it; `null` removes a value."""

    flux_kind = "Kustomization"
    owned = {
        "decryption.serviceAccountName": _ACCOUNT,
        "dependsOn": _DEPENDS_ON,
        "kubeConfig": _KUBECONFIG,
        "serviceAccountName": _IDENTITY,
        "sourceRef": _SOURCE_REF,
    }

    source: str | None = None
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


def _in_the_source(component: str, info: ValidationInfo) -> str:
    """Components are relative to the path, so "../shared" is as usual as it is harmless."""
    path = info.data.get("path", "./")  # missing where the path itself is wrong
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


class HelmPatch(FluxBlock):
    """A `helm:` block as written. Overrides may complete it; `null` removes a value.

    A failed install or upgrade is retried every `retryInterval` of the tenant, unless its `strategy` or
    `remediation` says otherwise.
    """

    flux_kind = "HelmRelease"
    owned = {
        "chartRef": "the fleet sets it from 'source', 'chart' and 'version'",
        "dependsOn": _DEPENDS_ON,
        "install.createNamespace": _NAMESPACES,
        "kubeConfig": _KUBECONFIG,
        "serviceAccountName": _IDENTITY,
        "sourceRef": _SOURCE_REF,
        "storageNamespace": _STORAGE,
    }
    parts = {"HelmChart": ("ignoreMissingValuesFiles", "reconcileStrategy", "verify")}

    source: str | None = None
    """A source of the tenant. Add-ons have their own source and omit this key."""
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
    timeout: Fillable[Duration] | None = None
    """How long one Helm action may take. Default: the tenant's `timeout`."""
    releaseName: Fillable[Name] | None = None
    """The name of the Helm release, at most 53 characters. Default: the app's name. A changed name uninstalls the old
    release and installs a new one."""
    targetNamespace: Fillable[Name] | None = None
    """The namespace to install into: one of the tenant's, by key or name. Default: the main one. An add-on may name
    any namespace; it is created if needed."""
    commonMetadata: CommonMetadata | None = None
    """Labels and annotations for every object."""


def _detecting_drift(written: Any) -> Any:
    """Flux leaves drift alone unless it is told otherwise; what to ignore does not mean to stop looking."""
    return {"mode": "enabled", **written} if isinstance(written, dict) else written


class Helm(HelmPatch):
    """A complete `helm:` block of one placement."""

    driftDetection: Annotated[dict[str, Any], BeforeValidator(_detecting_drift)] = {"mode": "enabled"}


class AppPatch(Model):
    """What an override may change in an app. It cannot remove a whole block, so `null` is refused."""

    kustomize: KustomizePatch = KustomizePatch()
    """Changes to the app's `kustomize`."""
    helm: HelmPatch = HelmPatch()
    """Changes to the app's `helm`."""
    dependsOn: list[AppName] | None = None
    """Replaces the app's list; `null` empties it."""


class Overrides(Model):
    environments: dict[str, AppPatch] = {}
    """Overrides by environment. Those of an extended environment apply first."""
    clusters: dict[str, AppPatch] = {}
    """Overrides by cluster. They take precedence over the environment's."""


class App(OneOf):
    one_of = ("kustomize", "helm")

    clusters: Selector | None = None
    """Where the app runs. Default: the tenant's selector, else the one in `defaults`."""
    kustomize: KustomizePatch | None = None
    """Manifests, applied by a Kustomization."""
    helm: HelmPatch | None = None
    """A chart, installed by a HelmRelease."""
    dependsOn: list[AppName] | None = None
    """What must be ready first, of the same kind: other apps of the tenant, or `platform/<add-on>`. Add-ons name add-ons."""
    imageAutomation: ImageAutomation | None = None
    """The images whose tags Flux follows, and how it writes them to Git."""
    overrides: Overrides = Overrides()
    """What differs in an environment or on a cluster."""
    state: State = "active"
    """`paused`: Flux stops reconciling the app. `offboarding`: a later run may remove the app, even if the
    environment is protected."""

    @property
    def kind(self) -> Literal["kustomize", "helm"]:
        return "kustomize" if self.kustomize is not None else "helm"


class Addon(App):
    """An app of the platform team. It has its own source and runs with the platform's rights."""

    clusters: Selector
    """Where the add-on runs. Required, as no default applies."""
    source: Source
    """Where the add-on's manifests or chart come from."""
