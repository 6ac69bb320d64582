"""Tenants, the platform, and the whole of tenants.yaml."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tenantry.grants.model import Grants, Include, NamespacePattern
from tenantry.model.apps import OF_ADDONS, App, State
from tenantry.model.clusters import Cluster, Environment
from tenantry.model.durations import Duration
from tenantry.model.flux import HelmPatch, KustomizePatch
from tenantry.model.notifications import Alert, Receiver
from tenantry.model.scalars import (
    AppName,
    CredentialsName,
    LabelKey,
    LabelValue,
    Name,
    Quantity,
    QuotaName,
    RoleName,
    SourcePath,
    TemplateNames,
    Text,
    VariableName,
    VariableValue,
    refusal,
)
from tenantry.model.selector import Overridden, Overriding, Selector, When, override_of
from tenantry.model.sources import Config, Credentials, GitRef, Oci, Source
from tenantry.model.strict import InParts, Keys, Model, OneOf, Partial
from tenantry.model.tenancy import (
    ClusterRights,
    ExtraNamespace,
    Limits,
    Network,
    ObjectManifest,
    PodSecurity,
    ServiceAccount,
    TenantOwner,
)


class PlacedSettings(Model):
    """Settings of a tenant that can differ between environments and clusters."""

    role: RoleName | None = None
    """The ClusterRole of the tenant's service account in its namespaces. It decides what the tenant's apps may do there."""
    interval: Duration | None = None
    """How often apps are reconciled."""
    retryInterval: Duration | None = None
    """How soon a failed app is retried."""
    timeout: Duration | None = None
    """How long applying an app and waiting for it may take."""
    quota: dict[QuotaName, Quantity | None] | None = None
    """The `hard` limits of a ResourceQuota in each namespace. Default: no quota."""
    limits: Limits | None = None
    """A LimitRange for containers in each namespace. Default: none."""
    network: Network | None = None
    """`isolated` admits the tenant's own pods and those in namespaces without a tenant, and lets pods connect to anywhere. `strict`
    admits the tenant's own pods and those in `namespaces` of add-ons. Its pods reach the tenant's own, DNS at port 53, the API
    server at port 6443 of private addresses, and what a NetworkPolicy under `objects` adds, but never a cloud's metadata service.
    `open` creates no policy. Default: `isolated`."""
    labels: dict[LabelKey, LabelValue | None] | None = None
    """Labels of the tenant's namespaces. Labels that Tenantry, Flux and Kubernetes set themselves are refused."""
    annotations: dict[LabelKey, str | None] | None = None
    """Annotations of the tenant's namespaces. Annotations that Tenantry and its tools set themselves are refused."""
    podSecurity: PodSecurity | None = None
    """The Pod Security Standard of the tenant's namespaces. Default: `baseline`."""
    owners: list[TenantOwner] | None = None
    """People, and their role in the tenant's namespaces. A tenant's list replaces the list in `defaults`."""
    objects: dict[Name, ObjectManifest | None] | None = None
    """Manifests of any namespaced kind, which are in each of the tenant's namespaces before its apps: pull secrets, CA bundles,
    ExternalSecrets."""
    dependsOn: list[AppName] | None = None
    """Add-ons that must be ready before anything of the tenant is created on the same cluster: its namespaces or baseline, and
    with them its apps. Written as `platform/<add-on>`; see [Order](apps-and-sources.md#order)."""

    @model_validator(mode="after")
    def _state_is_of_clusters(self) -> Self:
        when: When | None = getattr(self, "when", None)  # of an override
        if when and "state" in self.model_fields_set and when.environments is not None:
            text = "'state' stands in an override of clusters, and not of environments"
            raise refusal("state-of-environment", text, fix="write 'when: {clusters: ...}' alone")
        return self


class Tenant(PlacedSettings, Overridden):
    """A tenant, or a template of tenants. A tenant names its templates with `from`, and adds or replaces what differs: maps are
    merged, `null` removes, lists are replaced. Entries of `overrides` are appended, a selector and a `ref` are replaced as a whole,
    and the kind of a source or an app cannot change. A template has no `adopt`, and removes nobody by `state`.
    """

    differs = (*PlacedSettings.model_fields, "kustomize", "helm", "sources", "apps", "state")
    narrowed = {"state": Literal["active", "removing", "offboarding"]}

    from_: TemplateNames | None = Field(None, alias="from")
    """The entry of `templates.tenants` whose keys apply here too, or a list of them. Later ones take precedence, and the keys of
    this entry over all of them. `defaults` come first, and the templates that a template names before it."""
    clusters: Selector | None = None
    """The clusters of apps that have no selector. A nearer selector replaces this one entirely."""
    variables: dict[VariableName, VariableValue | None] | None = None
    """Placeholders for what belongs to the tenant, by name. No environment, cluster or template of clusters can have a variable of
    the same name."""
    grants: Grants | None = None
    """What the tenant's included file may do."""
    kustomize: KustomizePatch | None = None
    """What all apps with `kustomize` have. An app's own keys take precedence, and `null` there removes one. An included file
    sets it for the apps of the file, unless the tenant's own entry does."""
    helm: HelmPatch | None = None
    """The same for all apps with `helm`, such as values that every chart gets."""
    overrides: list[Annotated["Tenant", Overriding(), Keys(required=("when",))]] = []
    """What differs in an environment or on clusters, such as a quota in prod only. Those that hold apply in their order, those of
    `defaults` and of templates first, over everything that is said without: also over the tenant's own settings."""
    namespace: Text | None = None
    """Template for the name of the main namespace, such as `apps`; it replaces the environment's template. It can use what that
    one can use. No two tenants may get the same name, on any clusters of an environment or of environments that share one."""
    serviceAccount: ServiceAccount | None = None
    """The tenant's service account. On remote clusters Flux impersonates a user that has no account there; with this key, the
    tenant's pods have one in the tenant's namespaces."""
    clusterRoles: dict[Name, ClusterRights] = {}
    """Rights of the tenant's service account on whole clusters, such as for PersistentVolumes. What reaches other tenants needs
    `clusterAdmin: true`."""
    clusterObjects: dict[Name, ObjectManifest] = {}
    """Manifests of cluster-scoped kinds that belong to the tenant, on each cluster where it is placed, before its apps:
    PersistentVolumes, PriorityClasses, StorageClasses."""
    clusterAdmin: bool = False
    """Whether `role`, `owners` and a RoleBinding under `objects` may give `cluster-admin`, which can do everything in the tenant's
    namespaces, including deleting them and removing their pod security."""
    environments: Annotated[list[Name], Field(min_length=1)] | None = None
    """The environments the tenant is in, and those that extend them. An app's list replaces this one. Default: all
    environments."""
    namespaces: dict[Name, ExtraNamespace] = {}
    """Namespaces in addition to the main one, which every tenant has."""
    credentials: dict[Name, Credentials] = {}
    """Secrets that the tenant's sources, apps, alerts and receivers can name."""
    configs: dict[Name, Config] = {}
    """ConfigMaps that the tenant's apps can name."""
    sources: dict[Name, Source] = {}
    """Where the tenant's manifests and charts come from, by the name that apps use."""
    apps: dict[Name, Annotated[App, Keys(without=OF_ADDONS)]] = {}
    """The apps that the tenant runs."""
    alerts: dict[Name, Alert] = {}
    """Who is notified when the tenant's apps and sources fail or change, on every cluster where the tenant is placed."""
    receivers: dict[Name, Receiver] = {}
    """Webhooks that make Flux fetch the tenant's sources at once, on every cluster where the tenant is placed."""
    adopt: bool = False
    """Whether to take over existing objects that the environment does not manage yet; `tenantry preflight` shows what
    that changes."""
    state: State = "active"
    """`paused`: Flux stops reconciling the tenant's apps. `removing`: a later run may remove the tenant, even if the environment is
    protected; its namespaces stay with their data. `offboarding`: its namespaces go with their data. In an override of `clusters`
    alone, the last two take it off these clusters; until that run its apps keep running."""


TenantOverride = override_of(Tenant)

RESERVED = [
    *("*-system", "argocd", "calico-*", "cattle-*", "cert-manager", "cilium", "external-dns"),
    *("external-secrets", "ingress-nginx", "istio-*", "kyverno", "linkerd*", "logging", "longhorn*"),
    *("monitoring", "observability", "openshift*", "rook-ceph", "tigera-operator", "traefik", "velero"),
]
"""Namespaces that the tools of platform teams are usually installed into."""


class ChartRepository(Model):
    url: Text
    """The address of the repository: http, https or oci."""
    version: Text
    """The version of the chart `tenantry-objects`: exact or a range."""
    type: Literal["default", "oci"] = "default"
    """`oci` for addresses that begin with `oci://`."""


class ChartDirectory(Model):
    url: Text
    """The address of the repository: http, https or ssh."""
    ref: GitRef
    """What to check out. Flux takes a changed chart when its `Chart.yaml` has another version, not with each commit."""
    path: SourcePath
    """The directory of the chart `tenantry-objects` in the repository."""


class ObjectsChart(OneOf):
    """Where Flux finds the chart `tenantry-objects`, which installs baselines on remote clusters."""

    one_of = ("oci", "helm", "git")

    oci: Oci | None = None
    """The chart in an OCI registry, where it can be pinned by `digest` and checked by `verify`. `url` is its address with its name:
    `oci://HOST/PATH/tenantry-objects`."""
    helm: ChartRepository | None = None
    """The Helm repository or OCI registry that serves the chart."""
    git: ChartDirectory | None = None
    """The Git repository that contains the chart, for example the one with this file."""
    credentials: CredentialsName | None = None
    """The platform's credentials that Flux uses to fetch the chart."""


class Platform(Overridden):
    differs = ("sources", "addons", "chart", "kustomize", "helm")

    namespace: Name = "tenantry-system"
    """The platform team's namespace on every cluster. Helm stores the releases of baselines and add-ons there. Another
    value would reinstall them all, so runs refuse it."""
    chart: ObjectsChart | None = None
    """Where the chart for baselines is. Required as soon as a tenant is placed on a remote cluster."""
    reservedNamespaces: list[NamespacePattern] = RESERVED
    """Namespaces that no tenant may have, in addition to those of add-ons, of kubeconfigs and of Kubernetes. A `*` stands for
    any characters."""
    sharedIdentity: bool = False
    """Whether tenants may use the cloud identity of Flux's controllers, which all tenants then share."""
    credentials: dict[Name, Credentials] = {}
    """Secrets that add-ons, their sources, and the platform's alerts can name."""
    configs: dict[Name, Config] = {}
    """ConfigMaps that add-ons can name."""
    kustomize: KustomizePatch | None = None
    """What all add-ons with `kustomize` have. An add-on's own keys take precedence, and `null` there removes one."""
    helm: HelmPatch | None = None
    """The same for all add-ons with `helm`."""
    sources: dict[Name, Source] = {}
    """Where manifests and charts of add-ons come from, by the name that `kustomize.source` or `helm.source` of an add-on says.
    Several add-ons can share one. No source has the name of an add-on."""
    addons: dict[Name, Annotated[App, Keys(required=("clusters",))]] = {}
    """Apps of the platform team."""
    alerts: dict[Name, Alert] = {}
    """Who is notified when add-ons fail or change; for remote clusters also about baselines and all tenants' apps."""
    overrides: list[Annotated["Platform", Overriding(), Keys(required=("when",))]] = []
    """What differs in an environment or on clusters. Those that hold apply in their order, before those of each add-on."""


PlatformOverride = override_of(Platform)


class Templates(Model):
    clusters: dict[Name, Annotated[Cluster, Partial()]] = {}
    """What clusters that are alike share."""
    tenants: dict[Name, Annotated[Tenant, InParts()]] = {}
    """What tenants that are alike share. A template may lack what a tenant, or another template of it, adds. It has every key of a
    tenant except `adopt`; its `state` removes nothing."""


class Document(Model):
    apiVersion: Literal["tenantry/v1"]
    """The version of this format."""
    include: list[Include] = []
    """Files beside this one with the apps of tenants, or with clusters. Rights and limits of tenants belong in this file."""
    environments: Annotated[dict[Name, Environment], Field(min_length=1)]
    """Environments. Each one is a Pulumi stack on one management cluster."""
    templates: Templates = Field(default_factory=Templates)
    """What entries that are alike share, by the name that their `from` says."""
    clusters: Annotated[dict[Name, Cluster], Field(min_length=1)]
    """Management clusters and remote clusters. Included files can add some."""
    platform: Platform = Field(default_factory=Platform)
    """What the platform team runs on which clusters."""
    defaults: Annotated[Tenant, InParts()] = Field(default_factory=Tenant)
    """The template that every tenant has first."""
    tenants: dict[Name, Tenant] = {}
    """The tenants. An included file adds a tenant's apps and what belongs to them."""
