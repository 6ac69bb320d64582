"""Apps: one Kustomization or HelmRelease on each cluster they are placed on.

Blocks may be partial, because overrides complete them: they are checked in their partial shape here (`KustomizePatch`), and in
their complete shape (`Kustomize`) once per placement, after merging.
"""

from __future__ import annotations

import posixpath
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from tenantry.model.clusters import Selector
from tenantry.model.flux import FluxBlock
from tenantry.model.images import ImageAutomation
from tenantry.model.sources import Source
from tenantry.model.strict import Model, exactly_one
from tenantry.scalars import (
    AppName,
    Duration,
    LabelKey,
    LabelValue,
    Name,
    SourcePath,
    Text,
    VariableValue,
    refusal,
    shorten,
)

_SOURCE_REF = "the fleet sets it from 'source'"
_KUBECONFIG = "the fleet sets it for each cluster the app is placed on"
_IDENTITY = "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's"
_DEPENDS_ON = "the fleet sets it from 'dependsOn' of the app"
_NAMESPACES = "the fleet sets it: a tenant's namespaces are its baseline's, an add-on's are made when needed"
_ACCOUNT = "Flux would use the rights of any service account beside the clusters' keys"
_STORAGE = "the fleet sets it: releases are stored in the namespace they install to"


class Image(Model):
    name: str
    newName: str | None = None
    newTag: str | None = None
    digest: str | None = None


class PatchTarget(Model):
    group: str | None = None
    version: str | None = None
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None
    labelSelector: str | None = None
    annotationSelector: str | None = None


class Patch(Model):
    patch: str
    target: PatchTarget | None = None


class SubstituteFrom(Model):
    kind: Literal["Secret", "ConfigMap"]
    name: Name
    """One of the declared credentials (Secret) or configs (ConfigMap)."""
    optional: bool | None = None
    """Whether it may be missing; false unless set."""


class PostBuild(Model):
    substitute: dict[Annotated[str, Field(pattern=r"^[_A-Za-z][_A-Za-z0-9]*$")], VariableValue | None] | None = None
    substituteFrom: list[SubstituteFrom] | None = None
    substituteStrategy: Literal["WithVariables", "Always"] | None = None


class CommonMetadata(Model):
    labels: dict[LabelKey, LabelValue | None] | None = None
    annotations: dict[LabelKey, str | None] | None = None


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
    path: SourcePath | None = None
    interval: Duration | None = None
    retryInterval: Duration | None = None
    timeout: Duration | None = None
    prune: bool | None = None
    wait: bool | None = None
    force: bool | None = None
    deletionPolicy: Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"] | None = None
    targetNamespace: Name | None = None
    namePrefix: str | None = None
    nameSuffix: str | None = None
    components: list[str] | None = None
    images: list[Image] | None = None
    patches: list[Patch] | None = None
    postBuild: PostBuild | None = None
    commonMetadata: CommonMetadata | None = None


class Kustomize(KustomizePatch):
    """A complete `kustomize:` block of one placement."""

    path: SourcePath = "./"
    prune: bool = True
    wait: bool = True
    deletionPolicy: Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"] = "WaitForTermination"

    @model_validator(mode="after")
    def _components_lie_in_the_source(self) -> Self:
        for component in self.components or ():
            # Components are relative to the path, so "../shared" is as usual as it is harmless.
            if component.startswith("/") or posixpath.normpath(posixpath.join(self.path, component)).startswith(".."):
                raise refusal("bad-path", f"component '{shorten(component)}' leaves the source")
        return self


class HelmPatch(FluxBlock):
    """A `helm:` block as written: any part may be left to an override, `null` removes a value."""

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
    chart: Text | None = None
    version: Text | None = None
    valuesFiles: list[SourcePath] | None = None
    values: dict[str, Any] | None = None
    interval: Duration | None = None
    timeout: Duration | None = None
    releaseName: Name | None = None
    targetNamespace: Name | None = None
    commonMetadata: CommonMetadata | None = None


def _detecting_drift(written: Any) -> Any:
    """Flux leaves drift alone unless it is told otherwise; what to ignore does not mean to stop looking."""
    return {"mode": "enabled", **written} if isinstance(written, dict) else written


class Helm(HelmPatch):
    """A complete `helm:` block of one placement."""

    driftDetection: Annotated[dict[str, Any], BeforeValidator(_detecting_drift)] = {"mode": "enabled"}


class AppPatch(Model):
    """What an override may change of an app; it can not remove the whole block, so `null` is refused."""

    kustomize: KustomizePatch = KustomizePatch()
    helm: HelmPatch = HelmPatch()
    dependsOn: list[AppName] | None = None


class Overrides(Model):
    environments: dict[str, AppPatch] = {}
    clusters: dict[str, AppPatch] = {}


class App(Model):
    clusters: Selector | None = None
    """None: what the tenant or the defaults say."""
    kustomize: KustomizePatch | None = None
    helm: HelmPatch | None = None
    dependsOn: list[AppName] | None = None
    """What has to be ready first, of the same kind: apps beside this one; for a tenant's also `platform/<add-on>`."""
    imageAutomation: ImageAutomation | None = None
    """Which images Flux looks for new tags of, and how they get into Git."""
    overrides: Overrides = Overrides()

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
    source: Source
