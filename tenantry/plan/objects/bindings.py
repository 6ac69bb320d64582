"""Role bindings in a tenant's namespaces: for its service account, its owners, and the subjects in `roleBindings`.

Kubernetes does not allow changing the role of a binding, so each name contains the role: another role gives another binding.
The names of the three kinds cannot collide: only those for `roleBindings` have a dot behind their first part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tenantry.fleet.settings import TenantSettings
from tenantry.kube.names import join
from tenantry.kube.objects import Manifest
from tenantry.model.tenancy import AccountRef, Subject, TenantOwner
from tenantry.plan.objects.scope import Scope, in_namespace

_RBAC = "rbac.authorization.k8s.io"


def role_bindings(scope: Scope, settings: TenantSettings) -> Iterator[Manifest]:
    """The binding of the service account, one for each role of the owners, and those of `roleBindings` by name."""
    users = [_rbac("User", each) for each in users_of(scope)]
    yield _binding(scope, join(scope.tenant, "reconciler", settings.role), settings.role, users)
    for role, owners in _by_role(settings.owners).items():
        yield _binding(scope, join(scope.tenant, "owners", role), role, _subjects(scope, owners))
    for name, extra in sorted(settings.roleBindings.items()):
        yield _binding(scope, f"tenantry.{name}.{extra.role}", extra.role, _subjects(scope, extra.subjects))


def users_of(scope: Scope) -> list[str]:
    """The users that Flux impersonates, on the management cluster and on remotes; the first is that of the planned apps.

    Source: fluxcd.io, Kustomization, "Role-based access control": the namespace is that of the Flux object.
    """
    return [f"system:serviceaccount:{each}:{scope.service_account}" for each in (scope.home, *scope.accounts)]


def _by_role(owners: Iterable[TenantOwner]) -> dict[str, list[TenantOwner]]:
    roles: dict[str, list[TenantOwner]] = {}
    for owner in owners:
        roles.setdefault(owner.role, []).append(owner)
    return roles


def _binding(scope: Scope, name: str, role: str, subjects: Sequence[Manifest]) -> Manifest:
    body = {
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": list(subjects),
    }
    return in_namespace(scope, f"{_RBAC}/v1", "RoleBinding", name, body)


def _subjects(scope: Scope, subjects: Iterable[Subject]) -> list[Manifest]:
    return [_subject(scope, subject) for subject in subjects]


def _subject(scope: Scope, subject: Subject) -> Manifest:
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
