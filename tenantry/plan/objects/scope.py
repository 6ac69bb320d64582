"""The namespace, the names and the service account of the Flux objects of one placement.

On the management cluster they are in the tenant's own namespace. For a remote cluster they are next to its kubeconfig
Secret, where Flux looks for it, so their names contain the cluster and the tenant's namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.kube.names import MAX_LABEL, MAX_SOURCE, join
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner
from tenantry.messages.errors import Found, Path
from tenantry.messages.findings import name_too_long
from tenantry.model import ConfigMap, SecretKey

TENANT_LABEL = "toolkit.fluxcd.io/tenant"
ENVIRONMENT_LABEL = "tenantry/environment"
CLUSTER_LABEL = "tenantry/cluster"
APP_LABEL = "tenantry/app"
MANAGED_BY = {"app.kubernetes.io/managed-by": "tenantry"}
ROLE_LABEL = {"toolkit.fluxcd.io/role": "tenant"}
"""Of tenants' namespaces; on the management cluster the admission policy finds them by it."""

WATCHED = {"reconcile.fluxcd.io/watch": "Enabled"}
"""Makes Flux look again at once when a Secret or ConfigMap that its objects refer to appears or changes."""

_PROVIDER = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": "tenantry",
    "pulumi.com/patchForce": "true",
}
"""What Pulumi's provider is told with every object.

Deletion: Flux cleans up through finalizers, which every propagation waits for; foreground would wait for the garbage
collector too. Patching: by default each object has a manager of a random name, which a stack whose state was lost would be
in conflict with; and what somebody changed by hand is to be put back, not to fail the run half-way.
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """owner: the part of the fleet; an add-on's scope has no tenant.

    home:       namespace on the management cluster that holds the Flux objects
    prefix:     the first parts of their names
    namespace:  where on the target cluster things are installed
    namespaces: the tenant's others there, by key
    storage:    where on the target cluster Helm keeps its releases
    kubeconfig: how Flux reaches the target cluster; None: it is the management cluster
    base:       what has to be there before any app
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
    namespaces: Mapping[str, str] = field(default_factory=dict)

    @property
    def made_home(self) -> tuple[ObjectId, ...]:
        """The namespace of `home` where the fleet makes it, which comes before all that lies there; else nothing."""
        return tuple(id for id in self.base if (id.kind, id.name) == ("Namespace", self.home))

    @property
    def tenant(self) -> str:
        return self.owner.tenant

    def name(self, key: str) -> str:
        """The name of the object for a key such as an app's name."""
        return join(*self.prefix, key)

    def own_namespace(self, wanted: str) -> str:
        """The name of one of the tenant's namespaces by its key; anything else is a name already."""
        return self.namespaces.get(wanted, wanted)

    def labels(self, app: str = "") -> dict[str, str]:
        """The fleet's labels, by which everything of an environment, tenant, cluster or app is found."""
        return {
            **MANAGED_BY,
            **({TENANT_LABEL: self.tenant} if self.tenant else {}),
            ENVIRONMENT_LABEL: self.environment,
            CLUSTER_LABEL: self.cluster,
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
        """A namespaced object in `home`; `body` is everything beside metadata."""
        metadata = {
            "name": self.name(key),
            "namespace": self.home,
            "labels": self.labels(app),
            "annotations": dict(_PROVIDER),
        }
        return KubeObject(
            {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}, self.owner, depends_on
        )


def check_length(object: KubeObject, at: Path) -> None:
    """Raises: Found: the object's name is longer than its kind may have; at: what it is made of."""
    _, kind, _, name = object.id
    limit = MAX_LABEL if kind in ("Kustomization", "HelmRelease") else MAX_SOURCE
    if len(name) > limit:
        raise Found([name_too_long(kind, name, limit, at, "use shorter names")])


def on_management(manifest: Manifest, owner: Owner, depends_on: tuple[ObjectId, ...] = ()) -> KubeObject:
    """A manifest that Pulumi itself creates on the management cluster."""
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), **_PROVIDER}
    return KubeObject({**manifest, "metadata": {**metadata, "annotations": annotations}}, owner, depends_on)


def in_namespace(scope: Scope, api_version: str, kind: str, name: str, body: Mapping[str, Any]) -> Manifest:
    """A part of a baseline: something in the scope's namespace on the target cluster."""
    metadata = {"name": name, "namespace": scope.namespace, "labels": installed_labels(scope)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def installed_labels(scope: Scope) -> dict[str, str]:
    """The fleet's labels as what a baseline holds can carry them."""
    labels = scope.labels()
    if scope.kubeconfig is not None:
        # Helm writes this label on everything it installs; a different value would be permanent drift.
        del labels["app.kubernetes.io/managed-by"]
    return labels
