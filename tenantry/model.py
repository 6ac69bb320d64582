"""The shape of tenants.yaml: every key, its type and its default. What one key means for another is for `rules`.

All models are strict (no value is converted silently), frozen, and refuse keys they do not know. Blocks of an app may be
partial, because overrides complete them: they are checked in their partial shape here (`KustomizePatch`), and in their
complete shape (`Kustomize`) once per placement, after merging.
"""

from __future__ import annotations

import posixpath
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from tenantry.network import Network
from tenantry.scalars import (
    Duration,
    LabelKey,
    LabelValue,
    Name,
    ObjectName,
    Quantity,
    ResourceName,
    RoleName,
    ShortDuration,
    SourcePath,
    Text,
    VariableName,
    VariableValue,
    refusal,
    shorten,
)
from tenantry.strict import Model as Model
from tenantry.strict import exactly_one as _exactly_one
from tenantry.tenancy import ExtraBinding, ExtraNamespace, Limits, PodSecurity, TenantOwner

# --- environments and clusters ---------------------------------------------------------------------------------


class Environment(Model):
    extends: str | None = None
    """The environment whose settings and overrides hold here too, below its own."""
    after: str | None = None
    """The environment that is served before this one."""
    management: str
    """The cluster that runs Flux for this environment."""
    namespace: str = "{tenant}"
    """Template of a tenant's namespace, on every cluster of the environment."""
    variables: dict[VariableName, VariableValue] = {}


class Kamaji(Model):
    controlPlane: Name
    namespace: Name
    key: Literal["admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"] = "admin.conf"


class Capi(Model):
    cluster: Name
    namespace: Name


class Vcluster(Model):
    name: Name
    namespace: Name


class SecretKey(Model):
    name: ObjectName
    namespace: Name
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$")]


class ConfigMap(Model):
    """How Flux gets a token for a cluster by workload identity: no credentials lie anywhere.

    With `provider` the plan makes the ConfigMap from these keys; without, there is one already that holds them.

    Source: fluxcd.io, Kustomization, "Remote clusters": the keys of `.spec.kubeConfig.configMapRef`.
    """

    name: ObjectName
    namespace: Name
    provider: Literal["aws", "azure", "gcp", "generic"] | None = None
    cluster: Text | None = None
    """The cluster's name in its cloud: an ARN, a resource id or a path."""
    address: Text | None = None
    certificateAuthority: Text | None = None
    """PEM. None: what the cloud says, or the certificates that Flux's image trusts."""
    audiences: Annotated[list[Text], Field(min_length=1)] | None = None
    serviceAccountName: ObjectName | None = None
    """Who gets the token; it lies beside the ConfigMap, with the marks its cloud wants. None: Flux's controllers."""


class Kubeconfig(Model):
    """Where a remote cluster's kubeconfig lies on the management cluster, by who wrote it there."""

    kamaji: Kamaji | None = None
    capi: Capi | None = None
    vcluster: Vcluster | None = None
    secret: SecretKey | None = None
    configMap: ConfigMap | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, "kamaji", "capi", "vcluster", "secret", "configMap")
        return self

    @property
    def resolved(self) -> SecretKey | ConfigMap:
        """The Secret, its namespace and the key, never left to Flux's own guess; or the ConfigMap.

        Source: the naming contracts of Kamaji (TenantControlPlane), Cluster API and vCluster.
        """
        if self.kamaji:
            return SecretKey(
                name=f"{self.kamaji.controlPlane}-admin-kubeconfig",
                namespace=self.kamaji.namespace,
                key=self.kamaji.key,
            )
        if self.capi:
            return SecretKey(name=f"{self.capi.cluster}-kubeconfig", namespace=self.capi.namespace, key="value")
        if self.vcluster:
            return SecretKey(name=f"vc-{self.vcluster.name}", namespace=self.vcluster.namespace, key="config")
        reference = self.secret or self.configMap
        assert reference is not None
        return reference


class Cluster(Model):
    environments: Annotated[list[str], Field(min_length=1)]
    labels: dict[LabelKey, LabelValue] = {}
    variables: dict[VariableName, VariableValue] = {}
    kubeconfig: Kubeconfig | None = None
    """None for a cluster that is only ever a management cluster."""
    platformServiceAccount: Name = "tenantry-platform"
    """Impersonated on the cluster for baselines and add-ons."""


class Selector(Model):
    """Which clusters: by name, by labels (all must match) or all of them; `exclude` takes names out again."""

    names: list[str] | None = None
    labels: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)] | None = None
    all: Literal[True] | None = None
    exclude: list[str] = []

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, "names", "labels", "all")
        return self


# --- sources ------------------------------------------------------------------------------------------------------


class GitRef(Model):
    branch: Text | None = None
    tag: Text | None = None
    semver: Text | None = None
    name: Text | None = None
    commit: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        # A commit may stand beside a branch: Flux then fetches that branch only.
        _exactly_one(self, "branch", "tag", "semver", "name") if self.commit is None else None
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
        _exactly_one(self, "git", "helm")
        return self


# --- apps ---------------------------------------------------------------------------------------------------------

_SOURCE_REF = "the fleet sets it from 'source'"
_KUBECONFIG = "the fleet sets it for each cluster the app is placed on"
_IDENTITY = "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's"
_DEPENDS_ON = "the fleet sets it from 'dependsOn' of the app"
_NAMESPACES = "the fleet sets it: a tenant's namespaces are its baseline's, an add-on's are made when needed"
_READS_SECRETS = "Flux would read it with rights of its own, beside the clusters' keys"
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


class PostBuild(Model):
    owned = {"substituteFrom": _READS_SECRETS}

    substitute: dict[Annotated[str, Field(pattern=r"^[_A-Za-z][_A-Za-z0-9]*$")], VariableValue | None] | None = None
    substituteStrategy: Literal["WithVariables", "Always"] | None = None


class CommonMetadata(Model):
    labels: dict[LabelKey, LabelValue | None] | None = None
    annotations: dict[LabelKey, str | None] | None = None


class FluxBlock(Model):
    """A block whose keys are those of a Flux kind's spec.

    Fields are the keys that mean more to the fleet than to Flux; all others are Flux's, and checked against its schema by
    a rule (`rules.blocks`), so that a new version of Flux brings its keys along.
    """

    model_config = ConfigDict(extra="allow")

    flux_kind: ClassVar[str]

    @property
    def flux(self) -> dict[str, Any]:
        """What was written of Flux's own keys."""
        return dict(self.model_extra or {})


class KustomizePatch(FluxBlock):
    """A `kustomize:` block as written: any part may be left to an override, `null` removes a value."""

    flux_kind = "Kustomization"
    owned = {
        "decryption": _READS_SECRETS,
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
        "valuesFrom": _READS_SECRETS,
    }

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

    chart: Text
    driftDetection: Annotated[dict[str, Any], BeforeValidator(_detecting_drift)] = {"mode": "enabled"}


class AppPatch(Model):
    """What an override may change of an app; it can not remove the whole block, so `null` is refused."""

    kustomize: KustomizePatch = KustomizePatch()
    helm: HelmPatch = HelmPatch()
    dependsOn: list[str] | None = None


class Overrides(Model):
    environments: dict[str, AppPatch] = {}
    clusters: dict[str, AppPatch] = {}


class App(Model):
    clusters: Selector | None = None
    """None: what the tenant or the defaults say."""
    kustomize: KustomizePatch | None = None
    helm: HelmPatch | None = None
    dependsOn: list[str] | None = None
    overrides: Overrides = Overrides()

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, "kustomize", "helm")
        return self

    @property
    def kind(self) -> Literal["kustomize", "helm"]:
        return "kustomize" if self.kustomize is not None else "helm"


class Addon(App):
    """An app of the platform team; it carries its source, and runs with the platform's rights."""

    clusters: Selector
    source: Source


# --- tenants ------------------------------------------------------------------------------------------------------


class Settings(Model):
    """What a tenant may leave to `defaults:`; None: not said here."""

    role: RoleName | None = None
    interval: Duration | None = None
    retryInterval: Duration | None = None
    timeout: Duration | None = None
    quota: dict[ResourceName, Quantity | None] | None = None
    limits: Limits | None = None
    network: Network | None = None
    labels: dict[LabelKey, LabelValue | None] | None = None
    annotations: dict[LabelKey, str | None] | None = None
    podSecurity: PodSecurity | None = None
    owners: list[TenantOwner] | None = None
    roleBindings: dict[Name, ExtraBinding | None] | None = None
    clusters: Selector | None = None


class Tenant(Settings):
    namespaces: dict[Name, ExtraNamespace] = {}
    """Beside the main one, which every tenant has."""
    sources: dict[Name, Source] = {}
    apps: dict[Name, App] = {}


# --- the platform and the whole -----------------------------------------------------------------------------------


class ChartRepository(Model):
    url: str
    version: Text
    type: Literal["default", "oci"] = "default"


class ObjectsChart(Model):
    """Where Flux finds the chart `charts/objects` of this repository, which installs baselines on remote clusters."""

    helm: ChartRepository


class Platform(Model):
    namespace: Name = "tenantry-system"
    """The platform team's namespace, on every cluster: Helm keeps the baselines' releases there."""
    chart: ObjectsChart | None = None
    addons: dict[Name, Addon] = {}


class Document(Model):
    apiVersion: Literal["tenantry/v1"]
    include: list[Text] = []
    """Patterns of files beside this one that hold more tenants."""
    environments: Annotated[dict[Name, Environment], Field(min_length=1)]
    clusters: Annotated[dict[Name, Cluster], Field(min_length=1)]
    platform: Platform = Platform()
    defaults: Settings = Settings()
    tenants: dict[Name, Tenant] = {}
