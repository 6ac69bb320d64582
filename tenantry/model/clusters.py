"""Environments, clusters, and how a cluster is reached."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from tenantry.messages.problems import type_name
from tenantry.model.durations import Duration
from tenantry.model.scalars import (
    DeclaredCluster,
    DeclaredEnvironment,
    LabelKey,
    LabelValue,
    Name,
    NumberOrShare,
    ObjectName,
    TemplateNames,
    TenantName,
    VariableName,
    VariableValue,
    refusal,
)
from tenantry.model.strict import ByShape, Fillable, Keys, Model, OneOf
from tenantry.rollout.model import RolloutWave, Tolerate

ClusterState: TypeAlias = Literal["active", "paused", "removing", "offboarding", "decommissioned"]


class After(Model):
    """A gate: a change of an app waits until the environment before this one runs it."""

    environment: DeclaredEnvironment
    """The environment before this one."""
    soak: Duration | None = None
    """How long the environment before must have been ready with the change. Default: ready is enough."""


def _name_or_mapping(value: Any) -> Any:
    if not isinstance(value, str | dict):
        text = f"expected the name of an environment or a mapping, found {type_name(value)}"
        raise refusal("wrong-type", text, fix="write a name, as in 'after: dev'")
    return value


class Environment(Model):
    extends: str | None = None
    """The environment whose settings and overrides apply here too, all but its `after`. This environment's own take precedence."""
    after: Annotated[DeclaredEnvironment | After, ByShape(), BeforeValidator(_name_or_mapping)] | None = None
    """The environment before this one, such as `dev`: a change of an app waits until that one runs it and is ready; a mapping adds
    a soak. Output lists environments in this order, otherwise in the order of the file."""
    management: Annotated[DeclaredCluster, Field(min_length=1)] = ""
    """The cluster that runs Flux for this environment. Without it, the environment is a frame: it has no stack and no clusters, and
    others extend it."""
    namespace: str = "{tenant}"
    """Template for a tenant's namespace on every cluster of the environment."""
    tenants: Annotated[list[TenantName], Field(min_length=1)] | None = None
    """The only tenants in this environment, such as the one that a release environment is for. Default: all tenants."""
    variables: dict[VariableName, VariableValue] = {}
    """Placeholders for sources and apps, by name: texts, numbers, `true` and `false`. A cluster's variable of the same name takes
    precedence."""
    protected: bool = False
    """Whether tenants, namespaces and apps must be marked with `state: removing` or `offboarding` in an earlier run before they
    can be removed."""
    maxDeletions: NumberOrShare = 3
    """How many tenants, namespaces and apps, each counted separately, one run may remove: a number, or a share of those that are
    there, such as `10%`, rounded down, but at least one. The namespaces of a removed tenant count."""
    waves: Annotated[list[RolloutWave], Field(min_length=1)] | None = None
    """The waves in which a change reaches the environment's clusters, in their order. Every cluster must be in exactly one of them.
    The next wave starts when the apps of the one before are ready. Default: all clusters change at the same time."""
    timeout: Duration = "10m"
    """How long the clusters of a wave may take to become ready."""
    tolerate: Tolerate = Field(default_factory=Tolerate)
    """How many clusters of each wave may fail or be unreachable without stopping the change: a number, a share such as `1%`, or
    `{failed: 1, unreachable: 20%}`."""

    @property
    def before(self) -> str | None:
        """The name of the environment before this one."""
        return self.after.environment if isinstance(self.after, After) else self.after


class Kamaji(Model):
    controlPlane: Fillable[Name]
    """The TenantControlPlane; its kubeconfig is in the Secret `<controlPlane>-admin-kubeconfig`."""
    namespace: Fillable[Name]
    """The namespace of the TenantControlPlane and the Secret."""
    key: Literal["admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"] = "admin.conf"
    """The key of the kubeconfig in the Secret. Keys that end in `.svc` use the address inside the management cluster,
    which only Flux running there can reach."""


class Capi(Model):
    cluster: Fillable[Name]
    """The Cluster of Cluster API; its kubeconfig is in the Secret `<cluster>-kubeconfig`, under the key `value`."""
    namespace: Fillable[Name]
    """The namespace of the Cluster and the Secret."""


class KubeconfigObject(Model):
    """An object on the management cluster, by its name and namespace."""

    name: Fillable[ObjectName]
    """Its name."""
    namespace: Fillable[Name]
    """Its namespace, which must exist. The Flux objects for the cluster are created there too."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$")] | None = None
    """Of a Secret, the key of the kubeconfig, which has no default."""


@dataclass(frozen=True, slots=True)
class SecretKey:
    """The key of a Secret that holds a kubeconfig."""

    name: str
    namespace: str
    key: str


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """A ConfigMap that says how Flux gets a token for a cluster by workload identity, so that no credentials are stored.

    Source: fluxcd.io, Kustomization, "Remote clusters": the keys of `.spec.kubeConfig.configMapRef`.
    """

    name: str
    namespace: str


class Kubeconfig(OneOf):
    """Where the kubeconfig of a remote cluster is on the management cluster, by the tool that wrote it."""

    one_of = ("kamaji", "capi", "vcluster", "secret", "configMap")

    kamaji: Kamaji | None = None
    """A Kamaji control plane."""
    capi: Capi | None = None
    """A Cluster API cluster."""
    vcluster: Annotated[KubeconfigObject, Keys(without=("key",))] | None = None
    """A vCluster virtual cluster; its kubeconfig is in the Secret `vc-<name>`, under the key `config`."""
    secret: Annotated[KubeconfigObject, Keys(required=("key",))] | None = None
    """Any Secret that others create, by name and key."""
    configMap: Annotated[KubeconfigObject, Keys(without=("key",))] | None = None
    """Workload identity: a ConfigMap instead of a kubeconfig, which says how Flux gets a token, so that no credentials are stored.
    Others create it."""

    @property
    def resolved(self) -> SecretKey | ConfigMap:
        """The Secret, its namespace and the key, never left to Flux's own guess; or the ConfigMap.

        Source: the naming contracts of Kamaji (TenantControlPlane), Cluster API and vCluster.
        """
        if self.kamaji:
            return SecretKey(f"{self.kamaji.controlPlane}-admin-kubeconfig", self.kamaji.namespace, self.kamaji.key)
        if self.capi:
            return SecretKey(f"{self.capi.cluster}-kubeconfig", self.capi.namespace, "value")
        if self.vcluster:
            return SecretKey(f"vc-{self.vcluster.name}", self.vcluster.namespace, "config")
        if self.secret:
            return SecretKey(self.secret.name, self.secret.namespace, str(self.secret.key))
        assert self.configMap is not None  # one of the five is given
        return ConfigMap(self.configMap.name, self.configMap.namespace)


class Cluster(Model):
    from_: TemplateNames | None = Field(None, alias="from")
    """The entry of `templates.clusters` whose keys apply here too, or a list of entries. Later ones take precedence, and this
    cluster's own over all of them. The templates that a template names come before it."""
    environments: Annotated[list[DeclaredEnvironment], Field(min_length=1)]
    """The environments that the cluster belongs to. An add-on belongs to the first one that it admits."""
    labels: dict[LabelKey, LabelValue] = {}
    """Labels for selectors. They exist in this file only, not on the cluster. Each is a placeholder too."""
    variables: dict[VariableName, VariableValue] = {}
    """Placeholders, by name. They take precedence over the environment's."""
    kubeconfig: Kubeconfig | None = None
    """How Flux reaches the cluster. Required for a remote cluster, omitted for a cluster that is only a management cluster."""
    platformServiceAccount: Name = "tenantry-platform"
    """The service account that Flux impersonates on the cluster for baselines and add-ons."""
    shard: LabelValue | None = None
    """The shard of Flux's controllers that reconciles what is for the cluster: the label `sharding.fluxcd.io/key` of its sources,
    charts, Kustomizations and releases. Default: the controllers without a shard."""
    state: ClusterState = "active"
    """`paused`: Flux stops reconciling everything on the cluster. `removing`: a later run may remove everything from the cluster,
    which has to answer; namespaces stay with their data. `offboarding`: namespaces go with their data. `decommissioned`: the
    cluster is gone or will be. A later run removes its entry without reaching it, and everything on it keeps running."""
