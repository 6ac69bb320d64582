"""Apps and add-ons, tenants, the platform, and the whole of tenants.yaml."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from tenantry.grants.model import Grants, Include, NamespacePattern
from tenantry.model.clusters import Cluster, Environment
from tenantry.model.durations import Duration
from tenantry.model.flux import NAMELESS, HelmPatch, KustomizePatch, Metadata
from tenantry.model.scalars import (
    AppName,
    CredentialsName,
    EnvironmentName,
    LabelKey,
    LabelValue,
    Name,
    NameTemplate,
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
from tenantry.model.selector import OVERRIDING, Overridden, Selector, When, override_of
from tenantry.model.sources import Alert, Config, Credentials, GitRef, Oci, Receiver, Source
from tenantry.model.strict import InParts, Keys, Model, OneOf, Partial
from tenantry.model.tenancy import (
    OF_TENANTS,
    AddonAccount,
    ClusterRights,
    ExtraNamespace,
    Limits,
    Network,
    ObjectManifest,
    PodSecurity,
    ServiceAccount,
    TenantOwner,
)
from tenantry.rollout.model import NoWaves

State: TypeAlias = Literal["active", "paused", "removing", "offboarding"]


OF_ADDONS = ("source", "namespace", "namespaces", "account", "keepCRDs", "adopt")
"""Keys of the platform team's apps, which the apps of tenants lack."""


class App(OneOf, Overridden):
    """An app of a tenant, or an add-on, which is an app of the platform team. An add-on has a source of its own, or names one of
    `platform.sources` as a tenant's app does, and runs with the platform's rights.
    """

    one_of = ("kustomize", "helm")
    differs = ("kustomize", "helm", "dependsOn", "metadata", "source")

    clusters: Selector | None = None
    """Where the app runs. Default: the tenant's selector, else the one in `defaults`. An add-on has no default."""
    environments: Annotated[list[EnvironmentName], Field(min_length=1)] | None = None
    """The environments the app is in, and those that extend them. Replaces the tenant's list; of those that an included file names,
    only the tenant's count. Default: the tenant's list, else all environments. A cluster in several of an add-on's environments
    has it once, in the first that the cluster names."""
    kustomize: KustomizePatch | None = None
    """Manifests, applied by a Kustomization."""
    helm: HelmPatch | None = None
    """A chart, installed by a HelmRelease."""
    dependsOn: list[AppName] | None = None
    """What must be ready first: other apps of the tenant, or `platform/<add-on>`. Add-ons name add-ons. Flux keeps the order
    between two of one kind, `tenantry up` between a Kustomization and a release; see [Order](apps-and-sources.md#order)."""
    metadata: Annotated[Metadata, NAMELESS] | None = None
    """Labels and annotations of the app's Kustomization or HelmRelease. For those of everything it applies, set `commonMetadata`.
    An included file may set keys with granted prefixes."""
    waves: NoWaves = None
    """`false`: the app changes on all clusters at the same time, and not in the waves of its environment. Included files cannot set
    it."""
    overrides: list[Annotated["App", OVERRIDING, Keys(required=("when",))]] = []
    """What differs in an environment or on a cluster. Those that hold apply in their order, over what is said without."""
    state: State = "active"
    """`paused`: Flux stops reconciling the app. `removing`: a later run may remove the app, even if the environment is protected.
    `offboarding`: the same; of an add-on, its namespaces and CustomResourceDefinitions go too."""

    source: Source | None = None
    """Where an add-on's manifests or chart come from. Without it, `kustomize` or `helm` names one of `platform.sources`."""
    namespace: Name | None = None
    """The namespace of an add-on's Flux objects on a management cluster, and on every cluster the one in which Helm stores its
    release and installs it. No tenant can have it. `tenantry bootstrap` makes it, with the account as which Flux acts
    there. Another namespace is another release. Default: `platform.namespace`."""
    namespaces: dict[NameTemplate, Annotated[ExtraNamespace, Keys(without=OF_TENANTS)]] = {}
    """Namespaces that an add-on owns, by name; placeholders are filled in. They are created before the add-on, removed after it,
    and reserved: no tenant can have one of them."""
    account: AddonAccount | None = None
    """An `existing` account as which Flux applies an add-on. Default: the platform's account, which may do everything."""
    keepCRDs: bool = True
    """Whether the CustomResourceDefinitions that an add-on applied stay when the add-on goes, and with them all objects of their
    kinds. `state: offboarding` takes this away."""
    adopt: bool = False
    """Whether to take over what exists already: the add-on's Kustomization or HelmRelease, its source and chart, and namespaces of
    these names with the objects in them that the add-on has."""

    @property
    def kind(self) -> Literal["kustomize", "helm"]:
        return "kustomize" if self.kustomize is not None else "helm"

    @property
    def selector(self) -> Selector:
        """Where an add-on runs: each has a selector of its own."""
        assert self.clusters is not None
        return self.clusters


AppOverride = override_of(App)


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
    overrides: list[Annotated["Tenant", OVERRIDING, Keys(required=("when",))]] = []
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
    environments: Annotated[list[EnvironmentName], Field(min_length=1)] | None = None
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


class ChartPlace(Model):
    """A repository that has the chart `tenantry-objects`: of Helm, or of Git."""

    url: Text
    """The address of the repository: http, https or oci; of a Git repository http, https or ssh."""
    version: Text | None = None
    """The version of the chart in a Helm repository: exact or a range."""
    type: Literal["default", "oci"] | None = None
    """`oci` for addresses of Helm repositories that begin with `oci://`. Default: `default`."""
    ref: GitRef | None = None
    """What to check out. Flux takes a changed chart when its `Chart.yaml` has another version, not with each commit."""
    path: SourcePath | None = None
    """The directory of the chart in a Git repository."""

    @model_validator(mode="before")
    @classmethod
    def _of_helm(cls, value: Any) -> Any:
        return {"type": "default", **value} if isinstance(value, dict) and "version" in value else value


class ObjectsChart(OneOf):
    """Where Flux finds the chart `tenantry-objects`, which installs baselines on remote clusters."""

    one_of = ("oci", "helm", "git")

    oci: Oci | None = None
    """The chart in an OCI registry, where it can be pinned by `digest` and checked by `verify`. `url` is its address with its name:
    `oci://HOST/PATH/tenantry-objects`."""
    helm: Annotated[ChartPlace, Keys(without=("ref", "path"), required=("version",))] | None = None
    """The Helm repository or OCI registry that serves the chart, and the `version`, which is required."""
    git: Annotated[ChartPlace, Keys(without=("version", "type"), required=("ref", "path"))] | None = None
    """The Git repository that contains the chart, for example the one with this file; `ref` and `path` are required."""
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
    overrides: list[Annotated["Platform", OVERRIDING, Keys(required=("when",))]] = []
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
