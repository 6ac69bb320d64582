"""What a tenant's namespaces hold, as its settings: rights, labels, network, and other objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tenantry.importing.blocks import literal
from tenantry.importing.overlay import free_name
from tenantry.importing.resources import Resource
from tenantry.kube.names import join, slug
from tenantry.messages.data import mappings_in
from tenantry.messages.errors import Path

_SECURITY = "pod-security.kubernetes.io/"
OPEN: dict[str, Any] = {"network": "open", "podSecurity": {"enforce": "privileged"}}
"""The settings that restrict nothing, where it is not known what is restricted."""
_KINDS = ("RoleBinding", "Role", "ResourceQuota", "LimitRange", "NetworkPolicy")
"""What lies in a namespace and belongs to the tenant as a whole."""
_DEFAULT_ROLE = "admin"
"""The file does not write it."""


class Space(NamedTuple):
    """A namespace of a tenant on a management cluster.

    account: whom Flux acts as there. objects: what lies in it; made: the Namespace itself, if it was read. path: of the tenant.
    """

    account: str
    namespace: str
    made: Resource | None
    objects: tuple[Resource, ...]
    path: Path


def settings_of(space: Space) -> dict[str, Any]:
    """The settings that make the namespace what it is. Its policies are objects, so Tenantry adds none of its own."""
    settings: dict[str, Any] = {"podSecurity": OPEN["podSecurity"]}
    if space.made:
        settings = _of_namespace(space.made)
        space.made.take(*space.path)
    settings |= {**_role(space), "network": "open"}
    objects: dict[str, Any] = {}
    for resource in space.objects:
        if resource.kind in _KINDS and not _is_reconciler(space, resource):
            key = free_name(objects, slug(resource.name))  # objects of several kinds may have one name
            objects[key] = manifest_of(resource, key)
            resource.take(*space.path, "objects")
    return {**settings, **({"objects": objects} if objects else {})}


def _of_namespace(space: Resource) -> dict[str, Any]:
    labels = {key: value for key, value in space.metadata.get("labels", {}).items() if not key.startswith(_SECURITY)}
    own = {"labels": labels, "annotations": space.metadata.get("annotations")}
    return {**{key: value for key, value in own.items() if value}, **_security(space)}


def _security(space: Resource) -> dict[str, Any]:
    """Without labels every pod is admitted, and the file has to say so."""
    marks = {key.removeprefix(_SECURITY): value for key, value in space.labels.items() if key.startswith(_SECURITY)}
    levels: dict[str, str] = {mode: marks[mode] for mode in ("enforce", "audit", "warn") if mode in marks}
    levels.setdefault("enforce", "privileged")
    versions = {marks.get(f"{mode}-version") for mode in levels if mode in marks} - {None}
    if len(levels) == 3 and len(set(levels.values())) == 1 and not versions:
        return {"podSecurity": levels["enforce"]}
    if versions:
        levels["version"] = min(map(str, versions))
    return {} if levels == {"enforce": "baseline"} else {"podSecurity": levels}


# --- rights -----------------------------------------------------------------------------------------------------------


def _names_account(subject: dict[str, Any], space: Space) -> bool:
    """Whether the subject of a binding is the account that Flux impersonates."""
    kind, name = subject.get("kind"), str(subject.get("name"))
    if kind == "ServiceAccount":
        return name == space.account and subject.get("namespace", space.namespace) == space.namespace
    return name == f"system:serviceaccount:{space.namespace}:{space.account}"


def _is_reconciler(space: Space, resource: Resource) -> bool:
    """Whether a binding gives a ClusterRole to the account that Flux impersonates."""
    if resource.kind != "RoleBinding" or resource.at("roleRef", "kind") != "ClusterRole":
        return False
    return any(_names_account(subject, space) for subject in mappings_in(resource.at("subjects")))


def _role(space: Space) -> dict[str, Any]:
    bindings = [resource for resource in space.objects if _is_reconciler(space, resource)]
    roles = [str(binding.at("roleRef", "name")) for binding in bindings]
    role = "cluster-admin" if "cluster-admin" in roles else next(iter(roles), _DEFAULT_ROLE)
    for binding, named in zip(bindings, roles, strict=True):
        binding.take(*space.path, *(("role",) if {named, role} != {_DEFAULT_ROLE} else ()))
        planned = join("tenantry", "reconciler", named)
        if named != role:
            text = f"a tenant has one role, and '{role}' is taken"
            binding.leave(text, "keep this binding; it stays as it is")
        elif binding.name != planned:
            text = f"Tenantry creates RoleBinding {planned} beside it, with the same role for the same account"
            binding.leave(text, "it can stay; after the first `tenantry up` nothing needs it")
    return {"role": role} if role != _DEFAULT_ROLE else {}


def cluster_roles(space: Space, bindings: Iterable[Resource]) -> dict[str, Any]:
    """`clusterRoles` of a tenant, by the ClusterRoleBindings that are for its account alone."""
    entries: dict[str, Any] = {}
    for binding in bindings:
        subjects = mappings_in(binding.at("subjects"))
        if subjects and all(_names_account(subject, space) for subject in subjects):
            key = slug(binding.name)
            entries[key] = {"role": str(binding.at("roleRef", "name"))}
            binding.take(*space.path, "clusterRoles", key)
    return entries


# --- other objects ----------------------------------------------------------------------------------------------------


def manifest_of(resource: Resource, key: str) -> dict[str, Any]:
    """An entry of `objects`, which keeps the object's name."""
    metadata = {**({"name": resource.name} if resource.name != key else {}), **resource.metadata}
    whole = {**resource.manifest, "metadata": metadata}
    first = {part: whole.pop(part) for part in ("apiVersion", "kind", "metadata") if whole.get(part)}
    return dict(literal({**first, **{part: value for part, value in whole.items() if part != "metadata"}}))


def account_settings(account: Resource | None) -> dict[str, Any]:
    """`serviceAccount:` beside its name: what the account says of itself."""
    if account is None:
        return {}
    entry: dict[str, Any] = {key: value for key, value in account.metadata.items() if key == "annotations"}
    if secrets := mappings_in(account.manifest.get("imagePullSecrets")):
        entry["imagePullSecrets"] = [str(secret.get("name")) for secret in secrets]
    return entry


# --- extra namespaces -------------------------------------------------------------------------------------------------


def difference(main: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """What the entry of an extra namespace says: it is merged with the settings of the main one."""
    entry = _changes(
        *({key: own.get(key, {}) for key in ("labels", "annotations", "objects")} for own in (main, extra))
    )
    if main.get("podSecurity") != extra.get("podSecurity"):
        entry["podSecurity"] = extra.get("podSecurity", "baseline")
    return entry


def _changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What makes one mapping of the other, where mappings merge and null removes."""
    changes: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        if isinstance(value, dict) and isinstance(before.get(key), dict):
            if below := _changes(before[key], value):
                changes[key] = below
        elif before.get(key) != value:
            changes[key] = value
    return changes
