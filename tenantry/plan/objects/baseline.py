"""The namespaces of a tenant on one cluster: the baseline in them, and whom Flux impersonates there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tenantry.fleet.settings import TenantSettings
from tenantry.kube.names import join
from tenantry.kube.objects import Manifest
from tenantry.model.tenancy import AccountRef, ServiceAccount, TenantOwner
from tenantry.plan.objects.network import network_policies
from tenantry.plan.objects.scope import (
    ACCOUNT_LABEL,
    ROLE_LABEL,
    Scope,
    in_namespace,
    installed_labels,
)

_RBAC = "rbac.authorization.k8s.io"


def role_bindings(scope: Scope, settings: TenantSettings) -> Iterator[Manifest]:
    """The binding of the service account, and one for each role of the owners."""
    users = [_rbac("User", user) for user in users_of(scope)]
    yield _binding(scope, "reconciler", settings.role, users)
    for role, owners in _by_role(settings.owners).items():
        yield _binding(scope, "owners", role, [_subject(scope, owner) for owner in owners])


def users_of(scope: Scope) -> list[str]:
    """The users that Flux impersonates, on the management cluster and on remotes; the first is that of the planned apps.

    Source: fluxcd.io, Kustomization, "Role-based access control": the namespace is that of the Flux object.
    """
    return [f"system:serviceaccount:{namespace}:{scope.service_account}" for namespace in (scope.home, *scope.accounts)]


def _by_role(owners: Iterable[TenantOwner]) -> dict[str, list[TenantOwner]]:
    roles: dict[str, list[TenantOwner]] = {}
    for owner in owners:
        roles.setdefault(owner.role, []).append(owner)
    return roles


def _binding(scope: Scope, what: str, role: str, subjects: Sequence[Manifest]) -> Manifest:
    """A binding of a ClusterRole. Its name says which, as a binding keeps its role for ever; a policy closes such names."""
    body = {"roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role}, "subjects": list(subjects)}
    return in_namespace(scope, f"{_RBAC}/v1", "RoleBinding", join("tenantry", what, role), body)


def _subject(scope: Scope, subject: TenantOwner) -> Manifest:
    if subject.group is not None:
        return _rbac("Group", subject.group)
    if subject.user is not None:
        return _rbac("User", subject.user)
    assert subject.serviceAccount is not None  # a check of the model
    account = subject.serviceAccount
    return {"kind": "ServiceAccount", "name": account.name, "namespace": account_namespace(scope, account)}


def account_namespace(scope: Scope, account: AccountRef) -> str:
    """The namespace of a service account on the placement's cluster."""
    # `storage` is the tenant's main namespace, also in the scope of an extra namespace.
    return scope.own_namespace(account.namespace or scope.storage)


def _rbac(kind: str, name: str) -> dict[str, Any]:
    return {"apiGroup": _RBAC, "kind": kind, "name": name}


def baseline(scope: Scope, settings: TenantSettings) -> list[Manifest]:
    """The Namespace first, then the objects in it: role bindings, quota, limits, network policies."""
    manifests = [_namespace(scope, settings), *role_bindings(scope, settings)]
    if settings.quota:
        manifests.append(in_namespace(scope, "v1", "ResourceQuota", "tenantry", {"spec": {"hard": settings.quota}}))
    if settings.limits:
        limits = [{"type": "Container", **settings.limits}]
        manifests.append(in_namespace(scope, "v1", "LimitRange", "tenantry", {"spec": {"limits": limits}}))
    return [*manifests, *network_policies(scope, settings.network)]


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
    secrets = {"imagePullSecrets": [{"name": name} for name in declared.imagePullSecrets]}
    made = in_namespace(scope, "v1", "ServiceAccount", name, secrets if declared.imagePullSecrets else {})
    annotations = {"annotations": declared.annotations} if declared.annotations else {}
    return {**made, "metadata": {**made["metadata"], **annotations}}
