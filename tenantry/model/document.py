"""Tenants, the platform, and the whole of tenants.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tenantry.model.alerts import Alert
from tenantry.model.apps import Addon, App
from tenantry.model.clusters import Cluster, Environment, Selector
from tenantry.model.credentials import Config, Credentials
from tenantry.model.network import Network
from tenantry.model.sources import Source
from tenantry.model.strict import Model
from tenantry.model.tenancy import ExtraBinding, ExtraNamespace, Limits, PodSecurity, TenantOwner
from tenantry.scalars import Duration, LabelKey, LabelValue, Name, Quantity, ResourceName, RoleName, Text


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
    credentials: dict[Name, Credentials] = {}
    """Secrets that the tenant's sources, apps and alerts may name."""
    configs: dict[Name, Config] = {}
    """ConfigMaps that the tenant's apps may name."""
    sources: dict[Name, Source] = {}
    apps: dict[Name, App] = {}
    alerts: dict[Name, Alert] = {}
    """Who is told when the tenant's apps and sources fail or change, wherever the tenant is placed."""


class ChartRepository(Model):
    url: str
    version: Text
    type: Literal["default", "oci"] = "default"


class ObjectsChart(Model):
    """Where Flux finds the chart `charts/objects` of this repository, which installs baselines on remote clusters."""

    helm: ChartRepository
    credentials: Name | None = None
    """Which of the platform's credentials Flux uses to fetch it."""


class Platform(Model):
    namespace: Name = "tenantry-system"
    """The platform team's namespace, on every cluster: Helm keeps the baselines' releases there."""
    chart: ObjectsChart | None = None
    sharedIdentity: bool = False
    """Whether tenants may use the cloud identity of Flux's own controllers, which all of them then share."""
    credentials: dict[Name, Credentials] = {}
    """Secrets that add-ons, their sources and the platform's alerts may name."""
    configs: dict[Name, Config] = {}
    """ConfigMaps that add-ons may name."""
    addons: dict[Name, Addon] = {}
    alerts: dict[Name, Alert] = {}
    """Who is told when add-ons fail or change; on remote clusters also of baselines and of all tenants' apps."""


class Document(Model):
    apiVersion: Literal["tenantry/v1"]
    include: list[Text] = []
    """Patterns of files beside this one that hold more tenants."""
    environments: Annotated[dict[Name, Environment], Field(min_length=1)]
    clusters: Annotated[dict[Name, Cluster], Field(min_length=1)]
    platform: Platform = Platform()
    defaults: Settings = Settings()
    tenants: dict[Name, Tenant] = {}
