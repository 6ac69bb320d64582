"""Environments, clusters, and how a cluster is reached."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from tenantry.model.scalars import LabelKey, LabelValue, Name, ObjectName, Text, VariableName, VariableValue
from tenantry.model.strict import Model, exactly_one

ClusterState: TypeAlias = Literal["active", "paused", "decommissioned"]


class Environment(Model):
    extends: str | None = None
    """The environment whose settings and overrides hold here too, below its own."""
    after: str | None = None
    """The environment before this one: reports list them in this order, otherwise in the file's."""
    management: str
    """The cluster that runs Flux for this environment."""
    namespace: str = "{tenant}"
    """Template of a tenant's namespace, on every cluster of the environment."""
    variables: dict[VariableName, VariableValue] = {}
    """Placeholders for sources and apps, by name. A cluster's variable of the same name wins."""
    protected: bool = False
    """Whether nothing of a tenant goes that was not given up in an earlier run, by `state: offboarding`."""
    maxDeletions: Annotated[int, Field(ge=0)] = 3
    """How many tenants, namespaces and apps, each counted by themselves, one run may remove."""


class Kamaji(Model):
    controlPlane: Name
    """The TenantControlPlane; its kubeconfig is in the Secret `<controlPlane>-admin-kubeconfig`."""
    namespace: Name
    """Where the TenantControlPlane and the Secret lie."""
    key: Literal["admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"] = "admin.conf"
    """Which kubeconfig of the Secret. Those that end in `.svc` name the address inside the management cluster, which
    only Flux running there can reach."""


class Capi(Model):
    cluster: Name
    """The Cluster of Cluster API; its kubeconfig is in the Secret `<cluster>-kubeconfig`, under the key `value`."""
    namespace: Name
    """Where the Cluster and the Secret lie."""


class Vcluster(Model):
    name: Name
    """The virtual cluster; its kubeconfig is in the Secret `vc-<name>`, under the key `config`."""
    namespace: Name
    """Where the virtual cluster and the Secret lie."""


class SecretKey(Model):
    name: ObjectName
    """The Secret that holds the kubeconfig."""
    namespace: Name
    """Where the Secret lies."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$")]
    """Under which key of the Secret the kubeconfig is. Never guessed."""


class ConfigMap(Model):
    """How Flux gets a token for a cluster by workload identity: no credentials lie anywhere.

    With `provider` the plan makes the ConfigMap from these keys; without, there is one already that holds them.

    Source: fluxcd.io, Kustomization, "Remote clusters": the keys of `.spec.kubeConfig.configMapRef`.
    """

    name: ObjectName
    """The ConfigMap that Flux reads."""
    namespace: Name
    """Where it lies; the Flux objects for the cluster lie beside it."""
    provider: Literal["aws", "azure", "gcp", "generic"] | None = None
    """Whose tokens: the plan then makes the ConfigMap. Without it the ConfigMap is one that others make, and none of
    the keys below may be given."""
    cluster: Text | None = None
    """The cluster's name in its cloud: the ARN on EKS, the resource id on Azure, `projects/P/locations/L/clusters/C` on
    Google Cloud. Required for `aws`; for `azure` and `gcp`, unless `address` and `certificateAuthority` are given."""
    address: Text | None = None
    """`https://HOST[:PORT]` of the API server, without a path. Required for `generic`."""
    certificateAuthority: Text | None = None
    """Certificates in PEM. Without it: what the cloud says, or the certificates that Flux's image trusts."""
    audiences: Annotated[list[Text], Field(min_length=1)] | None = None
    """For whom tokens are asked. Without it: the provider's own, for `generic` the address."""
    serviceAccountName: ObjectName | None = None
    """Who gets the token; it lies beside the ConfigMap, with the marks its cloud wants. Without it: Flux's controllers."""


class Kubeconfig(Model):
    """Where a remote cluster's kubeconfig lies on the management cluster, by who wrote it there."""

    kamaji: Kamaji | None = None
    """A control plane of Kamaji."""
    capi: Capi | None = None
    """A cluster of Cluster API."""
    vcluster: Vcluster | None = None
    """A virtual cluster of vCluster."""
    secret: SecretKey | None = None
    """Any Secret, by name and key."""
    configMap: ConfigMap | None = None
    """Workload identity: a ConfigMap in the place of a kubeconfig, and no credentials anywhere."""

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
    """The environments it belongs to. Its add-ons belong to the first of them."""
    labels: dict[LabelKey, LabelValue] = {}
    """What selectors match. They stand in this file only; nothing on the cluster carries them."""
    variables: dict[VariableName, VariableValue] = {}
    """Placeholders, by name. They win over the environment's."""
    kubeconfig: Kubeconfig | None = None
    """How Flux reaches it: required for a remote cluster, and left out for one that is only ever a management cluster."""
    platformServiceAccount: Name = "tenantry-platform"
    """Impersonated on the cluster for baselines and add-ons."""
    state: ClusterState = "active"
    """`paused`: Flux leaves everything on it as it is. `decommissioned`: the cluster is gone, or about to be; what is on it
    is given up, so that its entry can be removed in the next run without reaching it."""


class Selector(Model):
    """Which clusters: by name, by labels (all must match) or all of them; `exclude` takes names out again."""

    names: list[str] | None = None
    """These clusters."""
    labels: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)] | None = None
    """The clusters that have all of these labels."""
    all: Literal[True] | None = None
    """`true`: every cluster of the environment."""
    exclude: list[str] = []
    """Names to take out again."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "names", "labels", "all")
        return self
