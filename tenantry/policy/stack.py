"""All objects of a stack, and the facts that follow from them together: who owns each namespace, and who is a tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from tenantry.policy.resource import ROLE, Resource, entries, lookup, texts

LETS_IN = "tenantry."
"""How the names of bindings begin by which a tenant lets others in; they make nobody a tenant."""
_ACCOUNT = "system:serviceaccount:"
_ALL = ("system:authenticated", "system:serviceaccounts", "system:unauthenticated")
"""Groups that every service account is in, or anybody."""


class Stack:
    """Immutable; each property is computed once."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self.objects = tuple(resource for resource in resources if resource.is_object)

    @cached_property
    def everywhere(self) -> tuple[Resource, ...]:
        """The objects, and those that releases of the objects chart install on remote clusters."""
        return (*self.objects, *(each for release in self.objects for each in installed(release)))

    @cached_property
    def tenant_namespaces(self) -> Mapping[str, str]:
        """The owner of each namespace on the management cluster; "" for a tenant's namespace whose label names no tenant."""
        return {each.name: each.tenant for each in self.objects if _is_tenant_namespace(each)}

    @cached_property
    def all_tenant_namespaces(self) -> frozenset[str]:
        """Names of tenants' namespaces on all clusters: no two tenants share one."""
        return frozenset(each.name for each in self.everywhere if _is_tenant_namespace(each))

    @cached_property
    def tenant_users(self) -> frozenset[str]:
        """Tenants' service accounts, by the user names that API servers give them."""
        accounts = (each for each in self.everywhere if (each.group, each.kind) == ("", "ServiceAccount"))
        labelled = {_account(account.namespace, account.name) for account in accounts if account.tenant}
        bound = {user for binding in self._own_bindings for user in users_of(binding) if self._is_account(user)}
        return frozenset(labelled | bound)

    @cached_property
    def tenant_people(self) -> frozenset[tuple[str, str]]:
        """Kind and name of the users and groups that belong to a tenant."""
        subjects = (subject for binding in self._own_bindings for subject in entries(binding.props.get("subjects")))
        people = {(str(subject.get("kind")), str(subject.get("name"))) for subject in subjects}
        return frozenset((kind, name) for kind, name in people if kind in ("User", "Group") and not _is_system(name))

    @cached_property
    def with_tenants_rights(self) -> frozenset[str]:
        """Namespaces on the management cluster that belong to a tenant, or in which a tenant has permissions."""
        bindings = (each for each in self.objects if is_binding(each) and each.namespace)
        return frozenset(self.tenant_namespaces) | {
            binding.namespace for binding in bindings if self.is_for_tenant(binding)
        }

    def is_for_tenant(self, binding: Resource) -> bool:
        """Whether the binding has a tenant's label, is in a tenant's namespace, or names a tenant."""
        return bool(
            binding.tenant or binding.namespace in self.all_tenant_namespaces or list(self.tenants_named(binding))
        )

    def tenants_named(self, binding: Resource) -> Iterator[str]:
        """The subjects of a binding that are tenants, as text."""
        yield from self.accounts_named(binding)
        for subject in entries(binding.props.get("subjects")):
            key = (str(subject.get("kind")), str(subject.get("name")))
            if key in self.tenant_people:
                yield f"{key[0].lower()} '{key[1]}'"

    def accounts_named(self, binding: Resource) -> Iterator[str]:
        """The subjects of a binding that are tenants' service accounts or groups that contain some, as text."""
        for user in users_of(binding):
            if user in self.tenant_users or self._is_account(user):
                yield f"'{user}'"
        for subject in entries(binding.props.get("subjects")):
            name = str(subject.get("name"))
            if subject.get("kind") == "Group" and (name in _ALL or name in self._groups):
                yield f"group '{name}'"

    @cached_property
    def _own_bindings(self) -> tuple[Resource, ...]:
        bindings = (each for each in self.everywhere if is_binding(each))
        return tuple(
            binding
            for binding in bindings
            if (binding.tenant or binding.namespace in self.all_tenant_namespaces)
            and not binding.name.startswith(LETS_IN)
        )

    @cached_property
    def _groups(self) -> frozenset[str]:
        """The groups of all service accounts of a namespace."""
        homes = {user.removeprefix(_ACCOUNT).partition(":")[0] for user in self.tenant_users}
        homes |= self.all_tenant_namespaces
        return frozenset(f"system:serviceaccounts:{home}" for home in homes)

    def _is_account(self, user: str) -> bool:
        """Whether the user is a service account of a tenant's namespace."""
        namespace, _, name = user.removeprefix(_ACCOUNT).partition(":")
        return user.startswith(_ACCOUNT) and bool(name) and namespace in self.all_tenant_namespaces


def is_binding(resource: Resource) -> bool:
    return resource.group == "rbac.authorization.k8s.io" and resource.kind in ("RoleBinding", "ClusterRoleBinding")


def users_of(binding: Resource) -> Iterator[str]:
    """The users that a binding names; service accounts by the user names that API servers give them."""
    for subject in entries(binding.props.get("subjects")):
        if subject.get("kind") == "ServiceAccount":
            yield _account(str(subject.get("namespace") or binding.namespace), str(subject.get("name")))
        elif subject.get("kind") == "User":
            yield str(subject.get("name"))


def _account(namespace: str, name: str) -> str:
    return f"{_ACCOUNT}{namespace}:{name}"


def _is_system(name: str) -> bool:
    return name.startswith("system:")


def _is_tenant_namespace(resource: Resource) -> bool:
    return (resource.group, resource.kind) == ("", "Namespace") and (
        resource.labels.get(ROLE) == "tenant" or bool(resource.tenant)
    )


def installed(release: Resource) -> Iterator[Resource]:
    """The manifests in a release's values, if it is a release of the objects chart."""
    if release.is_release:
        for manifest in lookup(release.spec, "values.objects[]"):
            yield Resource(release.urn, release.type, manifest, release.provider, by=release)


_ON_RIGHTS = frozenset({"*", "clusterrolebindings", "clusterroles", "rolebindings", "roles"})
_TO_MORE = frozenset({"*", "bind", "escalate"})


def gives_all(role: Resource) -> bool:
    """Whether a role allows everything where it is bound, or to take more than one has."""
    return any(
        _TO_MORE.intersection(texts(rule.get("verbs"))) and _ON_RIGHTS.intersection(texts(rule.get("resources")))
        for rule in entries(role.props.get("rules"))
    )
