"""The shape of tenants.yaml: every key, its type and its default. What one key means for another is for `rules`.

All models are strict (no value is converted silently), frozen, and refuse keys they do not know.

    document     the whole: platform, defaults, tenants
    clusters     environments, clusters, their templates, how a cluster is reached
    frame        which files are included, and what they are granted
    tenancy      what a tenant's namespaces are given; network: who may talk to them
    apps         apps, add-ons, overrides; kustomize and helm: their blocks
    alerts       who is told of what
    waves        in which order a change reaches clusters
    receivers    webhooks that make Flux fetch sources at once
    selecting    which clusters something takes
    sources      where manifests and charts come from
    credentials  what Flux reads beside them: names here, values elsewhere
    flux         blocks whose keys are Flux's own
"""

from tenantry.model.apps import Addon, AddonOverride, AddonPatch, App, AppOverride, AppPatch, State
from tenantry.model.clusters import (
    After,
    Cluster,
    ClusterState,
    ClusterTemplate,
    ConfigMap,
    Environment,
    Kubeconfig,
    SecretKey,
)
from tenantry.model.document import (
    ChartDirectory,
    ChartRepository,
    Document,
    ObjectsChart,
    PlacedSettings,
    Platform,
    PlatformOverride,
    Tenant,
    TenantOverride,
    TenantTemplate,
)
from tenantry.model.flux import (
    FluxBlock,
    Helm,
    HelmOfAll,
    HelmPatch,
    Kustomize,
    KustomizeOfAll,
    KustomizePatch,
)
from tenantry.model.notifications import COMMIT_STATUS, Alert, Provider, Receiver
from tenantry.model.selector import Excluded, Selector, When
from tenantry.model.sources import (
    SOURCE_KINDS,
    Bucket,
    Config,
    Credentials,
    Git,
    GitRef,
    HelmRepository,
    Oci,
    OciRef,
    Source,
    SourcePatch,
)
from tenantry.model.strict import Model
from tenantry.rollout.model import RolloutWave

__all__ = [
    "COMMIT_STATUS",
    "SOURCE_KINDS",
    "Addon",
    "AddonOverride",
    "AddonPatch",
    "After",
    "Alert",
    "App",
    "AppOverride",
    "AppPatch",
    "Bucket",
    "ChartDirectory",
    "ChartRepository",
    "Cluster",
    "ClusterState",
    "ClusterTemplate",
    "Config",
    "ConfigMap",
    "Credentials",
    "Document",
    "Environment",
    "Excluded",
    "FluxBlock",
    "Git",
    "GitRef",
    "Helm",
    "HelmOfAll",
    "HelmPatch",
    "HelmRepository",
    "Kubeconfig",
    "Kustomize",
    "KustomizeOfAll",
    "KustomizePatch",
    "Model",
    "ObjectsChart",
    "Oci",
    "OciRef",
    "PlacedSettings",
    "Platform",
    "PlatformOverride",
    "Provider",
    "Receiver",
    "RolloutWave",
    "SecretKey",
    "Selector",
    "Source",
    "SourcePatch",
    "State",
    "Tenant",
    "TenantOverride",
    "TenantTemplate",
    "When",
]
