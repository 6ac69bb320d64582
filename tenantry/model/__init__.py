"""The shape of tenants.yaml: every key, its type and its default. What one key means for another is for `rules`.

All models are strict (no value is converted silently), frozen, and refuse keys they do not know.

    document       the whole: apps and add-ons, tenants, the platform
    clusters       environments, clusters, how a cluster is reached
    selector       which clusters something takes, and where an override holds
    tenancy        what a tenant's namespaces are given, objects: manifests in them
    flux           blocks whose keys are Flux's own
    sources        where manifests and charts come from, credentials and configs beside them; alerts and receivers
    scalars        texts of one form, durations: times
    strict         what all models have in common, and entries that others complete
    walk           which model stands at a path, which parts of some data have a type
"""

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
    App,
    AppOverride,
    Document,
    ObjectsChart,
    PlacedSettings,
    Platform,
    PlatformOverride,
    State,
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
from tenantry.model.selector import Selector, When
from tenantry.model.sources import (
    COMMIT_STATUS,
    SOURCE_KINDS,
    Alert,
    Bucket,
    Config,
    Credentials,
    Git,
    HelmRepository,
    Oci,
    Provider,
    Receiver,
    Source,
)
from tenantry.model.strict import Model
from tenantry.rollout.model import RolloutWave
