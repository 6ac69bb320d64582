"""Rules about tenants' permissions, on the management cluster and, through their baselines, on remote clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tenantry.policy.resource import Resource, entries, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.stack import Stack, is_binding


class _Role(NamedTuple):
    """The role that a binding grants; a ClusterRole has no namespace."""

    kind: str
    namespace: str
    name: str


_ALL = "*"
_ROLES = ("Role", "ClusterRole")
_CLUSTER_ADMIN = _Role("ClusterRole", "", "cluster-admin")


def tenants_have_rights_in_their_namespaces_only(stack: Stack) -> Iterator[Violation]:
    """No tenant, neither its service account nor its people, gets cluster-admin or a role that allows everything, and
    no tenant's service account gets rights outside of tenants' namespaces. Otherwise Flux, acting for one tenant,
    could reach the others.
    """
    unlimited = {_key(each) for each in stack.everywhere if each.kind in _ROLES and _allows_everything(each)}
    for binding in filter(is_binding, stack.everywhere):
        role = _role_of(binding)
        if stack.is_for_tenant(binding) and (role == _CLUSTER_ADMIN or role in unlimited):
            who = _listed(stack.tenants_named(binding)) or "the subject that it names in a tenant's namespace"
            fix = "bind a role that lists what is needed, such as 'edit' or 'admin', in the tenant's namespaces"
            yield Violation(binding, f"{binding} gives {who} the role '{role.name}', which allows everything", fix)
        elif _is_of_the_file(binding):
            continue  # whether the main file gives this is for the rules about frames
        elif binding.namespace not in stack.all_tenant_namespaces and (who := _listed(stack.accounts_named(binding))):
            where = f"namespace '{binding.namespace}', which is no tenant's" if binding.namespace else "all namespaces"
            fix = "use RoleBindings in the tenant's own namespaces"
            yield Violation(binding, f"{binding} gives {who} the role '{role.name}' in {where}", fix)


def _is_of_the_file(binding: Resource) -> bool:
    """Whether a binding is one that Tenantry makes for `clusterRoles` of a tenant."""
    return binding.kind == "ClusterRoleBinding" and bool(binding.tenant) and binding.name.startswith("tenantry.")


def _role_of(binding: Resource) -> _Role:
    role = mapping(binding.props.get("roleRef"))
    kind = str(role.get("kind"))
    return _Role(kind, binding.namespace if kind == "Role" else "", str(role.get("name")))


def _key(role: Resource) -> _Role:
    return _Role(role.kind, role.namespace if role.kind == "Role" else "", role.name)


def _allows_everything(role: Resource) -> bool:
    return any(
        _ALL in (rule.get("verbs") or ()) and _ALL in (rule.get("resources") or ())
        for rule in entries(role.props.get("rules"))
    )


def _listed(who: Iterable[str]) -> str:
    """Without duplicates: a binding can name a service account in two ways."""
    return ", ".join(dict.fromkeys(who))
