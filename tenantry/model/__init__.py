"""The shape of tenants.yaml: every key, its type and its default. What one key means for another is for `rules`.

All models are strict (no value is converted silently), frozen, and refuse keys they do not know.

    document       the whole: platform, defaults, tenants, their overrides
    clusters       environments, clusters, how a cluster is reached
    selector       which clusters something takes, and where an override holds
    tenancy        what a tenant's namespaces are given, objects: manifests in them
    apps           apps and add-ons
    flux           blocks whose keys are Flux's own
    sources        where manifests and charts come from, credentials and configs beside them
    notifications  alerts and receivers
    scalars        texts of one form, durations: times
    strict         what all models have in common, partial: entries that others complete
"""

from tenantry.model.apps import App, AppOverride, State
from tenantry.model.clusters import (
    After,
    Cluster,
    ClusterState,
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
)
from tenantry.model.flux import (
    FluxBlock,
    Helm,
    HelmPatch,
    Kustomize,
    KustomizePatch,
    OneKey,
    PostBuild,
)
from tenantry.model.notifications import COMMIT_STATUS, Alert, Provider, Receiver
from tenantry.model.selector import Selector, When
from tenantry.model.sources import (
    SOURCE_KINDS,
    Bucket,
    Config,
    Credentials,
    Git,
    HelmRepository,
    Oci,
    Source,
)
from tenantry.model.strict import Model
from tenantry.rollout.model import RolloutWave
