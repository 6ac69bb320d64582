"""Role bindings in a tenant's namespaces: for its service account, its owners, and other subjects that it admits.

The role of a binding cannot be changed, so each binding's name contains it: another role is another binding. Names of
different origin cannot be equal: a tenant's name contains no dot, so neither do the first parts of the first two.
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
    """The service account's binding first, then one per role of the owners, then the extra ones by name."""
    yield _binding(scope, join(scope.tenant, "reconciler", settings.role), settings.role, [_rbac("User", user(scope))])
    for role, owners in _by_role(settings.owners).items():
        yield _binding(scope, join(scope.tenant, "owners", role), role, _subjects(scope, owners))
    for name, extra in sorted(settings.roleBindings.items()):
        yield _binding(scope, f"tenantry.{name}.{extra.role}", extra.role, _subjects(scope, extra.subjects))


def user(scope: Scope) -> str:
    """Whom Flux acts as, on the management cluster and on remotes alike.

    Source: fluxcd.io, Kustomization, "Role-based access control": the namespace part is the Flux object's.
    """
    return f"system:serviceaccount:{scope.home}:{scope.service_account}"


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
    """Where on the placement's cluster a service account lies."""
    # A tenant's releases are stored in its main namespace, whichever of its namespaces the scope is for.
    return scope.own_namespace(account.namespace or scope.storage)


def _rbac(kind: str, name: str) -> dict[str, Any]:
    return {"apiGroup": _RBAC, "kind": kind, "name": name}
