"""Environments, clusters, and how a cluster is reached."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tenantry.model.strict import Model, exactly_one
from tenantry.scalars import LabelKey, LabelValue, Name, ObjectName, Text, VariableName, VariableValue


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
        exactly_one(self, "kamaji", "capi", "vcluster", "secret", "configMap")
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
        exactly_one(self, "names", "labels", "all")
        return self
