"""What a tenant's namespaces hold, as its settings: rights, quota, limits, network, labels, and other objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tenantry.importing.blocks import literal
from tenantry.importing.overlay import free_name
from tenantry.importing.resources import Resource
from tenantry.kube.names import dns_label_problem, join, slug
from tenantry.messages.data import mappings_in
from tenantry.messages.errors import Path

_SECURITY = "pod-security.kubernetes.io/"
_LIMITS = ("default", "defaultRequest", "max", "min")
OPEN: dict[str, Any] = {"network": "open", "podSecurity": {"enforce": "privileged"}}
"""The settings that restrict nothing, where it is not known what is restricted."""
_KINDS = ("RoleBinding", "Role", "ResourceQuota", "LimitRange", "NetworkPolicy")
"""What lies in a namespace and belongs to the tenant as a whole."""
_DEFAULT_ROLE = "admin"
"""The file does not write it."""
_ACCOUNTS = "system:serviceaccount:"


class Space(NamedTuple):
    """A namespace of a tenant on one cluster.

    account: whom Flux acts as there; local_account: its name on the management cluster, and of the tenant's accounts everywhere.
    objects: what lies in it; made: the Namespace itself, if it was read. keys: what the file calls the tenant's other namespaces.
    """

    tenant: str
    account: str
    local_account: str
    namespace: str
    made: Resource | None
    objects: tuple[Resource, ...]
    path: Path
    keys: Mapping[str, str]


def settings_of(space: Space) -> dict[str, Any]:
    """The settings that make the namespace what it is."""
    settings: dict[str, Any] = {"podSecurity": OPEN["podSecurity"]}
    if space.made:
        settings = _of_namespace(space.made)
        space.made.take(*space.path)
    settings |= _role(space)
    if not any(resource.kind == "NetworkPolicy" and resource.name == "tenantry-isolated" for resource in space.objects):
        settings["network"] = "open"
    objects: dict[str, Any] = {}
    for resource in space.objects:
        if resource.kind in _KINDS and _is_reconciler(space, resource):
            continue
        if (setting := _setting(space, resource)) is not None:
            owners = [*settings.get("owners", ()), *setting.get("owners", ())]
            settings |= {**setting, **({"owners": owners} if owners else {})}
            resource.take(*space.path)
        elif resource.kind in _KINDS and (
            resource.name == "tenantry" or resource.name.startswith(("tenantry-", "tenantry."))
        ):
            text = "names that begin with 'tenantry' are the fleet's own in a tenant's namespace"
            resource.leave(text, "declare it under 'objects' with another name; this one can go then")
        elif resource.kind in _KINDS or (resource.is_declared and not is_own_account(space, resource)):
            _declare(resource, objects)
            resource.take(*space.path, "objects")
    return {**settings, **({"objects": objects} if objects else {})}


def is_own_account(space: Space, resource: Resource) -> bool:
    """Whether it is an account that Tenantry makes for the tenant itself."""
    return resource.kind == "ServiceAccount" and resource.name in (space.account, space.local_account)


def _of_namespace(space: Resource) -> dict[str, Any]:
    labels = {key: value for key, value in space.metadata.get("labels", {}).items() if not key.startswith(_SECURITY)}
    annotations = space.metadata.get("annotations")
    own = {"labels": labels, "annotations": annotations}
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


def _is_reconciler(space: Space, resource: Resource) -> bool:
    """Whether a binding gives a ClusterRole to the account that Flux impersonates."""
    if resource.kind != "RoleBinding" or resource.at("roleRef", "kind") != "ClusterRole":
        return False
    return any(_is_account(space, subject, resource.name) for subject in mappings_in(resource.at("subjects")))


def _is_account(space: Space, subject: dict[str, Any], binding: str) -> bool:
    kind, name = subject.get("kind"), str(subject.get("name"))
    if kind == "ServiceAccount":
        return name == space.account and subject.get("namespace", space.namespace) == space.namespace
    if name == f"{_ACCOUNTS}{space.namespace}:{space.account}":
        return True
    return name.endswith(f":{space.account}") and binding.startswith("tenantry-reconciler-")


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


def cluster_roles(space: Space, resources: Iterable[Resource]) -> dict[str, Any]:
    """`clusterRoles` of a tenant in one place. Args: resources: everything that was read of its cluster."""
    resources = list(resources)
    roles = {resource.name: resource for resource in resources if resource.kind == "ClusterRole"}
    prefix = f"tenantry.{space.namespace}."
    entries: dict[str, Any] = {}
    for binding in resources:
        if binding.kind != "ClusterRoleBinding" or not (binding.name.startswith(prefix) or _is_for(binding, space)):
            continue
        name, key = str(binding.at("roleRef", "name")), binding.name.removeprefix(prefix)
        key = slug(binding.name) if dns_label_problem(key) else key
        own = roles.get(name) if name == binding.name else None
        entries[key] = {"rules": own.manifest.get("rules")} if own else {"role": name}
        for resource in (own, binding):
            if resource:
                resource.take("tenants", space.tenant, "clusterRoles", key)
    return entries


def _is_for(binding: Resource, space: Space) -> bool:
    """Whether a binding is for the tenant's account alone."""
    names = {
        f"{_ACCOUNTS}{subject.get('namespace')}:" * (subject.get("kind") == "ServiceAccount") + str(subject.get("name"))
        for subject in mappings_in(binding.at("subjects"))
    }
    return names == {f"{_ACCOUNTS}{space.namespace}:{space.account}"}


# --- settings with names of Tenantry's own ----------------------------------------------------------------------------


def _setting(space: Space, resource: Resource) -> dict[str, Any] | None:
    """The setting that plans the same object; None: none does."""
    spec = resource.spec
    match resource.kind, resource.name:
        case "ResourceQuota", "tenantry" if set(spec) == {"hard"}:
            return {"quota": spec["hard"]}
        case "LimitRange", "tenantry":
            limits = mappings_in(spec.get("limits"))
            only = {key: value for key, value in limits[0].items() if key != "type"} if len(limits) == 1 else {}
            is_ours = only and limits[0].get("type") == "Container" and only.keys() <= set(_LIMITS)
            return {"limits": only} if is_ours else None
        case "NetworkPolicy", "tenantry-isolated":
            return {"network": "strict"} if "Egress" in spec.get("policyTypes", ()) else {}
        case "RoleBinding", _:
            return _owners(space, resource)
    return None


def _owners(space: Space, binding: Resource) -> dict[str, Any] | None:
    """Owners, by the name that Tenantry gives their binding."""
    role = str(binding.at("roleRef", "name"))
    subjects = [_subject(space, subject) for subject in mappings_in(binding.at("subjects"))]
    is_ours = binding.name == join("tenantry", "owners", role) and binding.at("roleRef", "kind") == "ClusterRole"
    more = {"role": role} if role != "view" else {}
    return {"owners": [{**subject, **more} for subject in subjects]} if is_ours and subjects and all(subjects) else None


def _subject(space: Space, written: dict[str, Any]) -> dict[str, Any]:
    """A person, a group or an account as the file names it; empty if it cannot."""
    name = str(written.get("name"))
    if written.get("kind") == "ServiceAccount":
        home = written.get("namespace", space.namespace)
        elsewhere = {"namespace": space.keys.get(home, home)} if home != space.namespace else {}
        return {"serviceAccount": {"name": name, **elsewhere}}
    key = {"User": "user", "Group": "group"}.get(str(written.get("kind")))
    return {key: name} if key and not name.startswith("system:") else {}


# --- other objects ----------------------------------------------------------------------------------------------------


def _declare(resource: Resource, objects: dict[str, Any]) -> None:
    """Add an object by a key that no other one has: objects of several kinds may have one name."""
    key = free_name(objects, slug(resource.name))
    objects[key] = manifest_of(resource, key)


def manifest_of(resource: Resource, key: str) -> dict[str, Any]:
    """An entry of `objects`, which keeps the object's name."""
    metadata = {**({"name": resource.name} if resource.name != key else {}), **resource.metadata}
    whole = {**resource.manifest, "metadata": metadata}
    first = {part: whole.pop(part) for part in ("apiVersion", "kind", "metadata") if whole.get(part)}
    return dict(literal({**first, **{part: value for part, value in whole.items() if part != "metadata"}}))


def namespace_of_addon(space: Resource, present: Iterable[Resource], path: Path) -> dict[str, Any]:
    """The entry of a namespace that an add-on owns. present: what was read there; path: of the namespaces in the file."""
    entry = _of_namespace(space)
    if not any(key.startswith(_SECURITY) for key in space.labels):
        del entry["podSecurity"]
    objects: dict[str, Any] = {}
    for resource in present:
        if resource.namespace == space.name and resource.is_declared:
            _declare(resource, objects)
            resource.take(*path)
    space.take(*path)
    return {**entry, **({"objects": objects} if objects else {})}


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
    entry: dict[str, Any] = {}
    if (network := extra.get("network", "isolated")) != main.get("network", "isolated"):
        entry["network"] = network
    for key in ("quota", "limits", "labels", "annotations", "podSecurity", "objects"):
        before, after = (_long_form(key, settings.get(key)) for settings in (main, extra))
        if before != after:
            entry[key] = _changes(before, after)
    return entry


def _long_form(key: str, value: Any) -> dict[str, Any]:
    if key == "podSecurity" and isinstance(value, str):
        return dict.fromkeys(("enforce", "audit", "warn"), value)
    return dict(value or ({"enforce": "baseline"} if key == "podSecurity" else {}))


def _changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What makes one mapping of the other, where mappings merge and null removes."""
    changes: dict[str, Any] = dict.fromkeys(before.keys() - after.keys())
    for key, value in after.items():
        if isinstance(value, dict) and isinstance(before.get(key), dict):
            if below := _changes(before[key], value):
                changes[key] = below
        elif before.get(key) != value:
            changes[key] = value
    return changes
