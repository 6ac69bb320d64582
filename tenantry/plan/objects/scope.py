"""The namespace, the names and the service account of the Flux objects of one placement.

For a placement on the management cluster they are in the tenant's own namespace. For a remote cluster they are in the namespace
of its kubeconfig, where Flux looks for it, so their names contain the cluster and the tenant's namespace.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tenantry.kube.acceptance import too_large
from tenantry.kube.names import MAX_LABEL, MAX_RELEASE, MAX_SOURCE, join, shortened
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, marked
from tenantry.messages.errors import InvalidPart, Path
from tenantry.messages.problems import name_too_long
from tenantry.model import ConfigMap, SecretKey
from tenantry.model.flux import Metadata

TENANT_LABEL = "toolkit.fluxcd.io/tenant"
ENVIRONMENT_LABEL = "tenantry/environment"
CLUSTER_LABEL = "tenantry/cluster"
APP_LABEL = "tenantry/app"
SOURCE_LABEL = "tenantry/source"
"""On what clusters share: the key of the source, whatever its content is."""
MANAGED_BY = {"app.kubernetes.io/managed-by": "tenantry"}
ROLE_LABEL = {"toolkit.fluxcd.io/role": "tenant"}
"""A label of tenants' namespaces. On the management cluster the admission policy selects them by it."""

ACCOUNT_LABEL = "tenantry/account"
"""A label of tenants' namespaces on the management cluster: the service account, if it is not named like the tenant."""

WATCHED = {"reconcile.fluxcd.io/watch": "Enabled"}
"""With this label, Flux reconciles at once when a Secret or ConfigMap that its objects refer to is created or changed."""

SHARD_LABEL = "sharding.fluxcd.io/key"
"""The label by which Flux's controllers choose what they reconcile. Source: fluxcd.io, "Flux sharding"."""

SHARDED = (
    *("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket"),
    *("Kustomization", "HelmRelease"),
)
"""The kinds whose controllers can run in shards. A chart is in the shard of its source: source-controller reads both."""

RECONCILERS = ("Kustomization", "HelmRelease")
"""The kinds whose names Flux copies into labels, so that they are short."""

MARKS = re.compile(
    r"tenantry/.*|pulumi\.com/.*|app\.kubernetes\.io/managed-by|toolkit\.fluxcd\.io/(tenant|role)"
    r"|helm\.sh/resource-policy|kustomize\.toolkit\.fluxcd\.io/prune|reconcile\.fluxcd\.io/watch"
)
"""Labels and annotations that Tenantry adds to every object of a kind. They say nothing about the object's work."""

FIELD_MANAGER = "tenantry"
"""The name under which Pulumi's provider owns the fields that it has set."""

_OF_FLEET = (*MANAGED_BY, TENANT_LABEL, ENVIRONMENT_LABEL, CLUSTER_LABEL, APP_LABEL, SOURCE_LABEL, SHARD_LABEL)
_PROVIDER = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": FIELD_MANAGER,
    "pulumi.com/patchForce": "true",
}
"""Settings of Pulumi's provider for every object.

Deletion: Flux cleans up in finalizers, and every propagation policy waits for these; foreground would also wait for the garbage
collector. Field manager: the default is a random name for each object, so a stack that lost its state would conflict with its
own objects. Force: a run reverts manual changes instead of failing on the conflict.
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """owner: the part of the fleet that owns the objects; the scope of add-ons has no tenant.

    home:       the namespace of the Flux objects, on the management cluster
    prefix:     the first parts of their names
    namespace:  the namespace on the target cluster that apps are installed in
    namespaces: the tenant's extra namespaces there, by key; those that add-ons own
    storage:    the namespace on the target cluster in which Helm stores releases
    kubeconfig: how Flux reaches the target cluster; None: it is the management cluster
    base:       the objects that every app depends on
    shard:      the shard of Flux's controllers that reconciles what they reconcile in shards
    accounts:   the extra namespaces with an account that has the rights of the tenant's
    attached:   the first parts of the names of ConfigMaps; None: those of `prefix`
    common:     the first parts of the names of Secrets, which clusters share; empty: those of ConfigMaps
    """

    environment: str
    cluster: str
    owner: Owner
    home: str
    prefix: tuple[str, ...]
    namespace: str
    storage: str
    service_account: str
    kubeconfig: SecretKey | ConfigMap | None
    base: tuple[ObjectId, ...] = ()
    shard: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)
    accounts: tuple[str, ...] = ()
    attached: tuple[str, ...] | None = None
    common: tuple[str, ...] = ()

    @property
    def made_home(self) -> tuple[ObjectId, ...]:
        """The Namespace `home`, on which all objects in it depend; empty if the plan does not create it."""
        return tuple(id for id in self.base if (id.kind, id.name) == ("Namespace", self.home))

    @property
    def together(self) -> tuple[Hashable, ...]:
        """Equal for clusters that share sources and charts: nothing else of a scope decides what these are."""
        return (self.environment, self.home, self.common or self.cluster, self.made_home, self.shard)

    @property
    def tenant(self) -> str:
        return self.owner.tenant

    @property
    def at(self) -> tuple[str, ...]:
        """Where the file declares the owner."""
        return ("tenants", self.tenant) if self.tenant else ("platform",)

    def name(self, key: str, kind: str = "") -> str:
        """The name of a Flux object for a key, such as the name of an app."""
        name = join(*self.prefix, key)
        return shortened(name, MAX_LABEL) if kind in RECONCILERS else name

    def release(self, app: str) -> str:
        """The name of the release of an app that sets none."""
        return shortened(app, MAX_RELEASE)

    def own_namespace(self, wanted: str) -> str:
        """The name of a namespace of the tenant, given its key or its name."""
        return self.namespaces.get(wanted, wanted)

    def labels(self, app: str = "") -> dict[str, str]:
        """Labels that select the objects of an environment, tenant, cluster or app."""
        return {
            **MANAGED_BY,
            **({TENANT_LABEL: self.tenant} if self.tenant else {}),
            ENVIRONMENT_LABEL: self.environment,
            **({CLUSTER_LABEL: self.cluster} if self.cluster else {}),
            **({APP_LABEL: app} if app else {}),
        }

    def remote(self) -> dict[str, Any]:
        """`kubeConfig` of a Kustomization or HelmRelease; empty on the management cluster."""
        if self.kubeconfig is None:
            return {}
        if isinstance(self.kubeconfig, ConfigMap):
            return {"kubeConfig": {"configMapRef": {"name": self.kubeconfig.name}}}
        return {"kubeConfig": {"secretRef": {"name": self.kubeconfig.name, "key": self.kubeconfig.key}}}

    def object(
        self,
        api_version: str,
        kind: str,
        key: str,
        body: Mapping[str, Any],
        *,
        app: str = "",
        depends_on: tuple[ObjectId, ...] = (),
    ) -> KubeObject:
        """A namespaced object in `home`; body: everything except metadata."""
        metadata = {
            "name": self.name(key, kind),
            "namespace": self.home,
            "labels": {**self.labels(app), **({SHARD_LABEL: self.shard} if self.shard and kind in SHARDED else {})},
            "annotations": dict(_PROVIDER),
        }
        return KubeObject(
            {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}, self.owner, depends_on
        )


def is_fleets_own(key: str) -> bool:
    """Whether a label or an annotation is one that the fleet sets on objects of Flux."""
    return key in (*_OF_FLEET, *_PROVIDER)


def with_metadata(planned: KubeObject, metadata: Metadata) -> KubeObject:
    """The object with more labels and annotations. Those of the fleet take precedence."""
    if not (metadata.labels or metadata.annotations):
        return planned
    own = planned.manifest["metadata"]
    more = {key: {**(getattr(metadata, key) or {}), **own[key]} for key in ("labels", "annotations")}
    return replace(planned, manifest={**planned.manifest, "metadata": {**own, **more}})


def check_length(object: KubeObject, at: Path) -> None:
    """Raises: InvalidPart: the object's name is too long for its kind; at: the part of the document that the name comes from."""
    kind, name = object.id.kind, object.id.name
    if len(name) > MAX_SOURCE:
        raise InvalidPart([name_too_long(kind, name, MAX_SOURCE, at, "use shorter names")])


def check_size(object: KubeObject, at: Path) -> None:
    """Check an object, which `at` of the document describes. Raises: InvalidPart: it is too large for an API server."""
    for problem in too_large(object.manifest):
        place = (*at, "metadata", *problem.path) if problem.path[:1] == ("annotations",) else at
        raise InvalidPart([replace(problem, path=place, at_key=place == at)])


def on_management(manifest: Manifest, owner: Owner, depends_on: tuple[ObjectId, ...] = ()) -> KubeObject:
    """The object for a manifest that Pulumi creates on the management cluster as it is."""
    return KubeObject(marked(manifest, annotations=_PROVIDER), owner, depends_on)


def unawaited(planned: KubeObject) -> KubeObject:
    """The object, for which Pulumi does not wait: an Ingress or a volume claim may be ready only when something uses it."""
    return replace(planned, manifest=marked(planned.manifest, annotations={"pulumi.com/skipAwait": "true"}))


def in_namespace(scope: Scope, api_version: str, kind: str, name: str, body: Mapping[str, Any]) -> Manifest:
    """A part of a baseline: an object in the scope's namespace on the target cluster."""
    metadata = {"name": name, "namespace": scope.namespace, "labels": installed_labels(scope)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def installed_labels(scope: Scope) -> dict[str, str]:
    """The labels of the scope that objects of a baseline can have."""
    labels = scope.labels()
    if scope.kubeconfig is not None:
        # Helm sets this label on everything that it installs. Another value would be permanent drift.
        del labels["app.kubernetes.io/managed-by"]
    return labels
