"""The baseline: a tenant's namespace and what it contains before any app. The manifests are the same on every cluster.

On the management cluster Pulumi creates them. On a remote cluster they are the values of a HelmRelease that installs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.fleet.settings import TenantSettings
from tenantry.kube.names import join
from tenantry.kube.objects import Manifest
from tenantry.model.network import Network
from tenantry.model.tenancy import ServiceAccount
from tenantry.plan.objects.bindings import role_bindings
from tenantry.plan.objects.scope import (
    ACCOUNT_LABEL,
    ENVIRONMENT_LABEL,
    ROLE_LABEL,
    TENANT_LABEL,
    Scope,
    in_namespace,
    installed_labels,
)


def baseline(scope: Scope, settings: TenantSettings) -> list[Manifest]:
    """The Namespace first, then the objects in it: role bindings, quota, limits, network policies."""
    manifests = [_namespace(scope, settings), *role_bindings(scope, settings)]
    if settings.quota:
        manifests.append(in_namespace(scope, "v1", "ResourceQuota", "tenantry", {"spec": {"hard": settings.quota}}))
    if settings.limits:
        limits = [{"type": "Container", **settings.limits}]
        manifests.append(in_namespace(scope, "v1", "LimitRange", "tenantry", {"spec": {"limits": limits}}))
    return [*manifests, *_network(scope, settings.network)]


def _namespace(scope: Scope, settings: TenantSettings) -> Manifest:
    labels = {
        **settings.labels,
        **settings.podSecurity.labels,
        **installed_labels(scope),
        **ROLE_LABEL,
        **_account_label(scope),
        # If a Kustomization applied this namespace before, its deletion must not delete the namespace.
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }
    annotations = {"annotations": settings.annotations} if settings.annotations else {}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": scope.namespace, "labels": labels, **annotations},
    }


def _account_label(scope: Scope) -> dict[str, str]:
    """What the admission policy reads, because a tenant's Flux objects have to name the account."""
    is_here = scope.kubeconfig is None and scope.service_account != scope.tenant
    return {ACCOUNT_LABEL: scope.service_account} if is_here else {}


def account(scope: Scope, name: str, declared: ServiceAccount | None) -> Manifest:
    """A service account in the scope's namespace on the target cluster. Its rights come from bindings alone."""
    if declared is None:
        return in_namespace(scope, "v1", "ServiceAccount", name, {})
    secrets = {"imagePullSecrets": [{"name": each} for each in declared.imagePullSecrets]}
    made = in_namespace(scope, "v1", "ServiceAccount", name, secrets if declared.imagePullSecrets else {})
    annotations = {"annotations": declared.annotations} if declared.annotations else {}
    return {**made, "metadata": {**made["metadata"], **annotations}}


def _network(scope: Scope, network: Network) -> Iterator[Manifest]:
    specs = {"isolated": _isolation(scope)} if network.base != "open" else {}
    specs |= {name: policy.spec for name, policy in sorted((network.policies or {}).items()) if policy}
    for name, spec in specs.items():
        yield in_namespace(scope, "networking.k8s.io/v1", "NetworkPolicy", join("tenantry", name), {"spec": spec})


def _isolation(scope: Scope) -> dict[str, Any]:
    """Allow ingress from the tenant's pods and from namespaces without a tenant (ingress, monitoring), and from nowhere else."""
    others = {"matchExpressions": [{"key": TENANT_LABEL, "operator": "DoesNotExist"}]}
    peers: list[Manifest] = [{"podSelector": {}}, {"namespaceSelector": others}]
    if scope.namespaces:
        # Another environment on the same cluster has tenants with the same names.
        own = {TENANT_LABEL: scope.tenant, ENVIRONMENT_LABEL: scope.environment}
        peers.append({"namespaceSelector": {"matchLabels": own}})
    return {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}
