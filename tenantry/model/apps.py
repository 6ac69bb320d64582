"""Apps: one Kustomization or HelmRelease on each cluster they are placed on.

Blocks may be partial, because overrides complete them: they are checked in their partial shape here (`KustomizePatch`), and in
their complete shape (`Kustomize`) once per placement, after merging.
"""

from __future__ import annotations

import posixpath
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

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
from tenantry.model.strict import Model, exactly_one

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
    """As the manifests have it, without the tag."""
    newName: str | None = None
    """What it becomes."""
    newTag: str | None = None
    """The tag it becomes."""
    digest: str | None = None
    """The digest it becomes; wins over a tag."""


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
    """Labels, as in `tier=web`."""
    annotationSelector: str | None = None
    """Annotations, as in `tier=web`."""


class Patch(Model):
    patch: str
    """A strategic merge patch, or a list of JSON patch operations, as text."""
    target: PatchTarget | None = None
    """What is patched. Without it: what the patch itself names."""


class SubstituteFrom(Model):
    kind: Literal["Secret", "ConfigMap"]
    """Which of the two it is."""
    name: Name
    """One of the declared credentials (Secret) or configs (ConfigMap)."""
    optional: bool | None = None
    """Whether it may be missing; false unless set."""


class PostBuild(Model):
    substitute: dict[Annotated[str, Field(pattern=r"^[_A-Za-z][_A-Za-z0-9]*$")], VariableValue | None] | None = None
    """Values for `${NAME}` in the built manifests."""
    substituteFrom: list[SubstituteFrom] | None = None
    """More values, from declared credentials and configs; those above win."""
    substituteStrategy: Fillable[Literal["WithVariables", "Always"]] | None = None
    """`Always`: also where no value is given here."""


class CommonMetadata(Model):
    labels: dict[LabelKey, Fillable[LabelValue] | None] | None = None
    """For every object of the app."""
    annotations: dict[LabelKey, str | None] | None = None
    """For every object of the app."""


class KustomizePatch(FluxBlock):
    """A `kustomize:` block as written: any part may be left to an override, `null` removes a value."""

    flux_kind = "Kustomization"
    owned = {
        "decryption.serviceAccountName": _ACCOUNT,
        "dependsOn": _DEPENDS_ON,
        "kubeConfig": _KUBECONFIG,
        "serviceAccountName": _IDENTITY,
        "sourceRef": _SOURCE_REF,
    }

    source: str | None = None
    """A source of the tenant. Add-ons have one of their own, and do not say it."""
    path: SourcePath | None = None
    """The directory in the source that is built."""
    interval: Fillable[Duration] | None = None
    """How often the app is compared with what it should be. Without it: the tenant's."""
    retryInterval: Fillable[Duration] | None = None
    """How soon it is tried again after a failure. Without it: the tenant's."""
    timeout: Fillable[Duration] | None = None
    """How long building, applying and waiting may take. Without it: the tenant's."""
    prune: bool | None = None
    """Whether what is no longer in the source is deleted."""
    wait: bool | None = None
    """Whether everything applied has to be ready before the app is."""
    force: bool | None = None
    """Whether what can not be changed is deleted and made anew."""
    deletionPolicy: Fillable[Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"]] | None = None
    """What becomes of the applied objects when the app goes. `WaitForTermination` deletes them and waits, `Orphan`
    leaves them, `MirrorPrune` does as `prune` says."""
    targetNamespace: Fillable[Name] | None = None
    """Where namespaced objects go: one of the tenant's namespaces, by its key or name. Without it: the main one; for
    an add-on, what the manifests say."""
    namePrefix: str | None = None
    """Before every object's name."""
    nameSuffix: str | None = None
    """After every object's name."""
    components: list[str] | None = None
    """Kustomize components, relative to `path`, inside the source."""
    images: list[Image] | None = None
    """Images to replace."""
    patches: list[Patch] | None = None
    """Patches on the built manifests."""
    postBuild: PostBuild | None = None
    """Substitution after building."""
    commonMetadata: CommonMetadata | None = None
    """Metadata of every object."""


class Kustomize(KustomizePatch):
    """A complete `kustomize:` block of one placement."""

    path: SourcePath = "./"
    prune: bool = True
    wait: bool = True
    deletionPolicy: Fillable[Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"]] = "WaitForTermination"

    @model_validator(mode="after")
    def _components_lie_in_the_source(self) -> Self:
        for component in self.components or ():
            # Components are relative to the path, so "../shared" is as usual as it is harmless.
            if component.startswith("/") or posixpath.normpath(posixpath.join(self.path, component)).startswith(".."):
                raise refusal("bad-path", f"component '{shorten(component)}' leaves the source")
        return self


class HelmPatch(FluxBlock):
    """A `helm:` block as written: any part may be left to an override, `null` removes a value.

    A failed install or upgrade is tried again every `retryInterval` of the tenant, unless its `strategy` says otherwise.
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
    """A source of the tenant. Add-ons have one of their own, and do not say it."""
    chart: Text | None = None
    """The chart's name in a Helm repository, or its directory in a Git repository."""
    version: Text | None = None
    """Exact or a range, as in `1.2.x`. Required with a Helm repository, refused with a Git repository."""
    valuesFiles: list[SourcePath] | None = None
    """Files of values in the source, later ones win; without it the chart's own. `values` win over them."""
    values: dict[str, Any] | None = None
    """The chart's values. Placeholders are filled in; `null` removes what a less specific layer says."""
    interval: Fillable[Duration] | None = None
    """How often the release is compared with what it should be. Without it: the tenant's."""
    timeout: Fillable[Duration] | None = None
    """How long Helm may take for one action. Without it: the tenant's."""
    releaseName: Fillable[Name] | None = None
    """Helm's name of the release, at most 53 characters. Without it: the app's name. A new name is a new release, and
    the end of the old one."""
    targetNamespace: Fillable[Name] | None = None
    """Where the release goes: one of the tenant's namespaces, by its key or name. Without it: the main one. An add-on
    may name any, which is made."""
    commonMetadata: CommonMetadata | None = None
    """Labels and annotations of every object."""


def _detecting_drift(written: Any) -> Any:
    """Flux leaves drift alone unless it is told otherwise; what to ignore does not mean to stop looking."""
    return {"mode": "enabled", **written} if isinstance(written, dict) else written


class Helm(HelmPatch):
    """A complete `helm:` block of one placement."""

    driftDetection: Annotated[dict[str, Any], BeforeValidator(_detecting_drift)] = {"mode": "enabled"}


class AppPatch(Model):
    """What an override may change of an app; it can not remove the whole block, so `null` is refused."""

    kustomize: KustomizePatch = KustomizePatch()
    """What changes in the app's `kustomize`."""
    helm: HelmPatch = HelmPatch()
    """What changes in the app's `helm`."""
    dependsOn: list[AppName] | None = None
    """Replaces the app's list; `null` empties it."""


class Overrides(Model):
    environments: dict[str, AppPatch] = {}
    """By environment. Those of an environment that this one extends apply first."""
    clusters: dict[str, AppPatch] = {}
    """By cluster; they win over the environment's."""


class App(Model):
    clusters: Selector | None = None
    """Where it runs. Without it: what the tenant or the defaults say."""
    kustomize: KustomizePatch | None = None
    """Manifests, built and applied by a Kustomization."""
    helm: HelmPatch | None = None
    """A chart, installed by a HelmRelease."""
    dependsOn: list[AppName] | None = None
    """What has to be ready first, of the same kind: apps beside this one; for a tenant's also `platform/<add-on>`."""
    imageAutomation: ImageAutomation | None = None
    """Which images Flux looks for new tags of, and how they get into Git."""
    overrides: Overrides = Overrides()
    """What is different in an environment or on a cluster."""
    state: State = "active"
    """`paused`: Flux leaves it as it is. `offboarding`: it may be removed in a later run, also where that is protected."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "kustomize", "helm")
        return self

    @property
    def kind(self) -> Literal["kustomize", "helm"]:
        return "kustomize" if self.kustomize is not None else "helm"


class Addon(App):
    """An app of the platform team; it carries its source, and runs with the platform's rights."""

    clusters: Selector
    """Where it runs; there is nothing to take over from."""
    source: Source
    """Where its manifests or its chart come from."""
