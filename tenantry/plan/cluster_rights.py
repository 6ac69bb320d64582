"""What a tenant has outside of namespaces: ClusterRoles, each with its binding, and the platform team's own objects there.

All names contain the tenant's namespace, so that no two tenants or environments meet on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.kube.kinds import group_of
from tenantry.kube.objects import Manifest, object_id
from tenantry.messages.errors import Finding, Found
from tenantry.model.cluster_rights import ClusterRights
from tenantry.model.objects import ClusterObject
from tenantry.plan.declared_objects import DeclaredObject, manifest_of
from tenantry.plan.objects.bindings import users_of
from tenantry.plan.objects.scope import Scope, installed_labels

_RBAC = "rbac.authorization.k8s.io"


def cluster_rights(scope: Scope, declared: Mapping[str, ClusterRights]) -> Iterator[Manifest]:
    """The ClusterRoles and ClusterRoleBindings of a placement, sorted by their keys."""
    for key, rights in sorted(declared.items()):
        # A namespace and a key contain no dot, so no two names are the same.
        name = f"tenantry.{scope.namespace}.{key}"
        if rights.rules is not None:
            rules = [each.model_dump(exclude_none=True) for each in rights.rules]
            yield _cluster_wide(scope, "ClusterRole", name, {"rules": rules})
        users = [{"apiGroup": _RBAC, "kind": "User", "name": each} for each in users_of(scope)]
        role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": rights.role or name}
        yield _cluster_wide(scope, "ClusterRoleBinding", name, {"roleRef": role, "subjects": users})


def cluster_objects(
    scope: Scope, declared: Mapping[str, ClusterObject], variables: Mapping[str, str]
) -> list[DeclaredObject]:
    """The tenant's own cluster-scoped objects, sorted by their keys. Raises: Found: some cannot be there."""
    made: list[DeclaredObject] = []
    findings: list[Finding] = []
    for key, each in sorted(declared.items()):
        at = ("tenants", scope.tenant, "clusterObjects", key)
        data = each.model_dump(exclude_none=True)
        try:
            manifest = manifest_of(at, ClusterObject, data, {**variables, "namespace": scope.namespace})
        except Found as found:
            findings += found.findings
            continue
        manifest["metadata"]["labels"] |= installed_labels(scope)
        made.append(DeclaredObject(manifest, at))
    if findings:
        raise Found(findings)
    return made


def claim_of(cluster: str, manifest: Manifest) -> tuple[str, str, str, str]:
    """What the API server of a cluster tells cluster-scoped objects apart by: versions of a group show the same ones."""
    id = object_id(manifest)
    return cluster, group_of(id.api_version), id.kind, id.name


def _cluster_wide(scope: Scope, kind: str, name: str, body: Mapping[str, Any]) -> Manifest:
    metadata = {"name": name, "labels": installed_labels(scope)}
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, **body}
