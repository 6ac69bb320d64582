"""The objects on a management cluster that a fleet could express. Secrets are not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tenantry.cluster.requests import every
from tenantry.flux.schemas import kinds, schema_of
from tenantry.importing.readers.clean import cleaned
from tenantry.importing.readers.documents import Placed
from tenantry.kube.objects import Manifest, is_of_flux, labels_of
from tenantry.plan.objects.scope import MANAGED_BY, TENANT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

ORIGIN = "live"
_RBAC = "rbac.authorization.k8s.io/v1"
_IN_NAMESPACES = (
    *(("v1", "ServiceAccount"), ("v1", "ResourceQuota"), ("v1", "LimitRange"), (_RBAC, "RoleBinding"), (_RBAC, "Role")),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)
_IF_OURS = ((_RBAC, "ClusterRole"), (_RBAC, "ClusterRoleBinding"), ("v1", "ConfigMap"))
"""Kinds of which a cluster has many that are nobody's."""


def objects_on(client: Client) -> Iterator[Placed]:
    """Flux's objects, and what lies in the namespaces that hold some. Raises: as `cluster.requests.every`."""
    flux = [each for kind in kinds() for each in every(client, schema_of(kind).api_version, kind)]
    inside = {str(each["metadata"].get("namespace")) for each in flux}
    spaces = [each for each in every(client, "v1", "Namespace") if _counts(each, inside)]
    names = {str(each["metadata"]["name"]) for each in spaces}
    yield from (_placed(each) for each in (*spaces, *flux))
    for api_version, kind in _IN_NAMESPACES:
        for each in every(client, api_version, kind):
            if str(each["metadata"].get("namespace")) in names and not _is_kubernetes_own(each):
                yield _placed(each)
    ours = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
    for api_version, kind in _IF_OURS:
        yield from (_placed(each) for each in every(client, api_version, kind, selector=ours))


def _placed(manifest: Manifest) -> Placed:
    return Placed(cleaned(manifest), ORIGIN)


def _counts(namespace: Manifest, inside: set[str]) -> bool:
    """Whether a namespace can be a tenant's: Flux's own holds what Flux was installed with."""
    name = str(namespace["metadata"]["name"])
    if name in ("default", "flux-system") or name.startswith("kube-"):
        return False
    return name in inside or TENANT_LABEL in labels_of(namespace)


def _is_kubernetes_own(manifest: Manifest) -> bool:
    return not is_of_flux(str(manifest["apiVersion"])) and manifest["metadata"]["name"] == "default"
