"""Tenants, the platform, and the whole of tenants.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tenantry.model.alerts import Alert
from tenantry.model.apps import Addon, App, State
from tenantry.model.clusters import Cluster, Environment, Selector
from tenantry.model.credentials import Config, Credentials
from tenantry.model.network import Network
from tenantry.model.scalars import Duration, LabelKey, LabelValue, Name, Quantity, ResourceName, RoleName, Text
from tenantry.model.sources import Source
from tenantry.model.strict import Model
from tenantry.model.tenancy import ExtraBinding, ExtraNamespace, Limits, PodSecurity, TenantOwner


class Settings(Model):
    """What a tenant may leave to `defaults:`."""

    role: RoleName | None = None
    """The ClusterRole that the tenant's service account has in its namespaces, and so what its apps may do there."""
    interval: Duration | None = None
    """How often apps are compared with what they should be."""
    retryInterval: Duration | None = None
    """How soon a failed app is tried again."""
    timeout: Duration | None = None
    """How long applying an app, and waiting for it, may take."""
    quota: dict[ResourceName, Quantity | None] | None = None
    """`hard` of a ResourceQuota in each namespace: amounts, by what they count. Without it: no quota."""
    limits: Limits | None = None
    """A LimitRange for containers in each namespace. Without it: none."""
    network: Network | None = None
    """Who may talk to the tenant's pods. Without it: `isolated`."""
    labels: dict[LabelKey, LabelValue | None] | None = None
    """Of the tenant's namespaces. The fleet's own, and its tools', are refused."""
    annotations: dict[LabelKey, str | None] | None = None
    """Of the tenant's namespaces. The fleet's own, and its tools', are refused."""
    podSecurity: PodSecurity | None = None
    """The Pod Security Standard of the tenant's namespaces. Without it: the cluster's own."""
    owners: list[TenantOwner] | None = None
    """People, and what they may do in the tenant's namespaces. A tenant's list replaces that of the defaults."""
    roleBindings: dict[Name, ExtraBinding | None] | None = None
    """ClusterRoles for others, in the tenant's namespaces only."""
    clusters: Selector | None = None
    """The clusters of the apps that do not say it themselves. Taken whole from the nearest place that says it."""


class Tenant(Settings):
    namespaces: dict[Name, ExtraNamespace] = {}
    """Beside the main one, which every tenant has."""
    credentials: dict[Name, Credentials] = {}
    """Secrets that the tenant's sources, apps and alerts may name."""
    configs: dict[Name, Config] = {}
    """ConfigMaps that the tenant's apps may name."""
    sources: dict[Name, Source] = {}
    """Where the tenant's manifests and charts come from, by a name that apps use."""
    apps: dict[Name, App] = {}
    """What the tenant runs."""
    alerts: dict[Name, Alert] = {}
    """Who is told when the tenant's apps and sources fail or change, wherever the tenant is placed."""
    adopt: bool = False
    """Whether objects that are there already, and not the environment's, become the tenant's; `tenantry preflight` shows what
    that changes."""
    state: State = "active"
    """`paused`: Flux leaves its apps as they are. `offboarding`: it may be removed in a later run, also where that is
    protected."""


class ChartRepository(Model):
    url: str
    """Of the repository: http, https or oci."""
    version: Text
    """Of the chart `tenantry-objects`, exact or a range."""
    type: Literal["default", "oci"] = "default"
    """`oci` for URLs that begin with oci."""


class ObjectsChart(Model):
    """Where Flux finds the chart `charts/objects` of this repository, which installs baselines on remote clusters."""

    helm: ChartRepository
    """The Helm repository that holds it."""
    credentials: Name | None = None
    """Which of the platform's credentials Flux uses to fetch it."""


class Platform(Model):
    namespace: Name = "tenantry-system"
    """The platform team's namespace, on every cluster: Helm keeps the baselines' releases there."""
    chart: ObjectsChart | None = None
    """Where the chart of baselines is. Required as soon as a tenant is placed on a remote cluster."""
    sharedIdentity: bool = False
    """Whether tenants may use the cloud identity of Flux's own controllers, which all of them then share."""
    credentials: dict[Name, Credentials] = {}
    """Secrets that add-ons, their sources and the platform's alerts may name."""
    configs: dict[Name, Config] = {}
    """ConfigMaps that add-ons may name."""
    addons: dict[Name, Addon] = {}
    """Apps of the platform team."""
    alerts: dict[Name, Alert] = {}
    """Who is told when add-ons fail or change; on remote clusters also of baselines and of all tenants' apps."""


class Document(Model):
    apiVersion: Literal["tenantry/v1"]
    """The version of this format."""
    include: list[Text] = []
    """Patterns of files beside this one that hold more tenants."""
    environments: Annotated[dict[Name, Environment], Field(min_length=1)]
    """What is rolled out as one: each is a Pulumi stack, on one management cluster."""
    clusters: Annotated[dict[Name, Cluster], Field(min_length=1)]
    """Management clusters and remote ones."""
    platform: Platform = Platform()
    """What the platform team runs, on which clusters."""
    defaults: Settings = Settings()
    """Settings of every tenant that does not say otherwise."""
    tenants: dict[Name, Tenant] = {}
    """The teams. May also stand in included files, each tenant in one of them."""
