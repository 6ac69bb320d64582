"""The baseline: what a tenant's namespace is before any app. The same manifests on every cluster.

On the management cluster Pulumi creates them; on a remote cluster a HelmRelease does, whose values hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.kube import Manifest
from tenantry.objects.scope import TENANT_LABEL, Scope
from tenantry.settings import TenantSettings

_RBAC = "rbac.authorization.k8s.io"


def baseline(scope: Scope, settings: TenantSettings) -> list[Manifest]:
    """The Namespace first, then what lies in it: role binding, quota, limits, network policy."""
    manifests = [_namespace(scope, settings), _role_binding(scope, settings.role)]
    if settings.quota:
        manifests.append(_in_namespace(scope, "v1", "ResourceQuota", "tenantry", {"spec": {"hard": settings.quota}}))
    if settings.limits:
        limits = [{"type": "Container", **settings.limits}]
        manifests.append(_in_namespace(scope, "v1", "LimitRange", "tenantry", {"spec": {"limits": limits}}))
    if settings.network == "isolated":
        manifests.append(_isolation(scope))
    return manifests


def _namespace(scope: Scope, settings: TenantSettings) -> Manifest:
    labels = {
        **settings.labels,
        **_labels(scope),
        "toolkit.fluxcd.io/role": "tenant",
        # A Kustomization that once applied this namespace must not take it along when it goes.
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": scope.namespace, "labels": labels}}


def _role_binding(scope: Scope, role: str) -> Manifest:
    body = {
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user(scope)}],
    }
    # The role of a binding can not be changed, and neither Helm nor a server-side dry run can replace it under the same name.
    return _in_namespace(scope, f"{_RBAC}/v1", "RoleBinding", f"{scope.tenant}-reconciler-{role}", body)


def user(scope: Scope) -> str:
    """Whom Flux acts as, on the management cluster and on remotes alike.

    Source: fluxcd.io, Kustomization, "Role-based access control": the namespace part is the Flux object's.
    """
    return f"system:serviceaccount:{scope.home}:{scope.service_account}"


def _isolation(scope: Scope) -> Manifest:
    """No pod of another tenant gets in; the platform's own (ingress, monitoring) and the tenant's pods do."""
    others = {"matchExpressions": [{"key": TENANT_LABEL, "operator": "DoesNotExist"}]}
    spec = {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}, {"namespaceSelector": others}]}],
    }
    return _in_namespace(scope, "networking.k8s.io/v1", "NetworkPolicy", "tenantry-isolated", {"spec": spec})


def _in_namespace(scope: Scope, api_version: str, kind: str, name: str, body: Mapping[str, Any]) -> Manifest:
    metadata = {"name": name, "namespace": scope.namespace, "labels": _labels(scope)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def _labels(scope: Scope) -> dict[str, str]:
    labels = scope.labels()
    if scope.kubeconfig is not None:
        # Helm writes this label on whatever it installs; a second opinion would be drift for ever.
        del labels["app.kubernetes.io/managed-by"]
    return labels
