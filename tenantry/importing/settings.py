"""What a tenant's namespaces hold, as its settings: rights, quota, limits, network, labels, and other objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tenantry.importing.blocks import literal
from tenantry.importing.overlay import free_name
from tenantry.importing.world import Notes, Thing
from tenantry.kube.names import join, slug
from tenantry.messages.data import mapping_at, mappings_in

_SECURITY = "pod-security.kubernetes.io/"
_LIMITS = ("default", "defaultRequest", "max", "min")
OPEN: dict[str, Any] = {"network": "open", "podSecurity": {"enforce": "privileged"}}
"""The settings that restrict nothing, where it is not known what is restricted."""
KINDS = ("RoleBinding", "Role", "ResourceQuota", "LimitRange", "NetworkPolicy")
"""What lies in a namespace and belongs to the tenant as a whole."""


class Space(NamedTuple):
    """A namespace of a tenant on one cluster.

    account: whom Flux acts as there; local_account: its name on the management cluster, and of the tenant's accounts everywhere.
    objects: what lies in it; made: the Namespace itself, if it was read. keys: what the file calls the tenant's other namespaces.
    """

    tenant: str
    account: str
    local_account: str
    namespace: str
    made: Thing | None
    objects: tuple[Thing, ...]
    path: tuple[str, ...]
    keys: Mapping[str, str]


def settings_of(space: Space, notes: Notes) -> dict[str, Any]:
    """The settings that make the namespace what it is."""
    found: dict[str, Any] = {}
    objects: dict[str, Any] = {}
    if space.made:
        found |= _of_namespace(space.made)
        notes.take(space.made.read, *space.path)
    else:
        found["podSecurity"] = OPEN["podSecurity"]
    found |= _role(space, notes)
    if not any(each.kind == "NetworkPolicy" and each.name == "tenantry-isolated" for each in space.objects):
        found["network"] = "open"
    for thing in space.objects:
        if thing.kind in KINDS and (_is_reconciler(space, thing) or _as_setting(space, thing, found, notes)):
            continue
        if thing.kind in KINDS and (thing.name == "tenantry" or thing.name.startswith(("tenantry-", "tenantry."))):
            text = "names that begin with 'tenantry' are the fleet's own in a tenant's namespace"
            notes.leave(thing.read, text, "declare it under 'objects' with another name; this one can go then")
        elif thing.kind in KINDS or (thing.is_declared and not is_own_account(space, thing)):
            _declare(thing, objects)
            notes.take(thing.read, *space.path, "objects")
    if objects:
        found["objects"] = objects
    return found


def is_own_account(space: Space, thing: Thing) -> bool:
    """Whether it is an account that Tenantry makes for the tenant itself."""
    return thing.kind == "ServiceAccount" and thing.name in (space.account, space.local_account)


def _of_namespace(made: Thing) -> dict[str, Any]:
    found = dict(made.metadata)
    labels = {key: value for key, value in found.pop("labels", {}).items() if not key.startswith(_SECURITY)}
    return {**({"labels": labels} if labels else {}), **found, **_security(made)}


def _security(made: Thing) -> dict[str, Any]:
    """Without labels every pod is admitted, and the file has to say so."""
    there = {key.removeprefix(_SECURITY): str(each) for key, each in made.labels.items() if key.startswith(_SECURITY)}
    levels: dict[str, str] = {mode: there[mode] for mode in ("enforce", "audit", "warn") if mode in there}
    levels.setdefault("enforce", "privileged")
    versions = {there.get(f"{mode}-version") for mode in levels if mode in there} - {None}
    if len(levels) == 3 and len(set(levels.values())) == 1 and not versions:
        return {"podSecurity": levels["enforce"]}
    if versions:
        levels["version"] = str(sorted(map(str, versions))[0])
    return {} if levels == {"enforce": "baseline"} else {"podSecurity": levels}


# --- rights ---------------------------------------------------------------------------------------------------------


def _is_reconciler(space: Space, thing: Thing) -> bool:
    """Whether a binding gives a ClusterRole to the account that Flux impersonates."""
    if thing.kind != "RoleBinding" or thing.at("roleRef", "kind") != "ClusterRole":
        return False
    return any(_is_account(space, subject, thing.name) for subject in mappings_in(thing.at("subjects")))


def _is_account(space: Space, subject: dict[str, Any], binding: str) -> bool:
    kind, name = subject.get("kind"), str(subject.get("name"))
    if kind == "ServiceAccount":
        return name == space.account and subject.get("namespace", space.namespace) == space.namespace
    if name == f"system:serviceaccount:{space.namespace}:{space.account}":
        return True
    return name.endswith(f":{space.account}") and binding.startswith(f"{space.tenant}-reconciler-")


def names_account(binding: Thing, namespace: str, account: str) -> bool:
    """Whether a binding gives its role to a service account."""
    wanted = (("ServiceAccount", namespace, account), ("User", "", f"system:serviceaccount:{namespace}:{account}"))
    subjects = mappings_in(binding.at("subjects"))
    found = ((each.get("kind"), str(each.get("namespace") or ""), each.get("name")) for each in subjects)
    return any(each in wanted for each in found)


def _role(space: Space, notes: Notes) -> dict[str, Any]:
    bindings = [each for each in space.objects if _is_reconciler(space, each)]
    if not bindings:
        return {}
    roles = list(dict.fromkeys(str(each.at("roleRef", "name")) for each in bindings))
    role = "cluster-admin" if "cluster-admin" in roles else roles[0]
    for binding in bindings:
        named = str(binding.at("roleRef", "name"))
        notes.take(binding.read, *space.path, *(("role",) if {named, role} != {_DEFAULT_ROLE} else ()))
        planned = join(space.tenant, "reconciler", named)
        if named != role:
            notes.leave(
                binding.read, f"a tenant has one role, and '{role}' is taken", "keep this binding; it stays as it is"
            )
        elif binding.name != planned:
            notes.leave(
                binding.read,
                f"Tenantry creates RoleBinding {planned} beside it, with the same role for the same account",
                "it can stay; after the first `tenantry up` nothing needs it",
            )
    return {"role": role} if role != _DEFAULT_ROLE else {}


_DEFAULT_ROLE = "admin"
"""The file does not write it."""


# --- settings with names of Tenantry's own ----------------------------------------------------------------------------


def _as_setting(space: Space, thing: Thing, found: dict[str, Any], notes: Notes) -> bool:
    """Take an object for a setting, if the setting would plan the same object."""
    made = {
        "RoleBinding": _people,
        "ResourceQuota": _quota,
        "LimitRange": _limits,
        "NetworkPolicy": _policy,
    }.get(thing.kind)
    if made is None or not made(space, thing, found):
        return False
    notes.take(thing.read, *space.path)
    return True


def _quota(_: Space, thing: Thing, found: dict[str, Any]) -> bool:
    if thing.name != "tenantry" or set(thing.spec) != {"hard"}:
        return False
    found["quota"] = thing.spec["hard"]
    return True


def _limits(_: Space, thing: Thing, found: dict[str, Any]) -> bool:
    limits = thing.spec.get("limits")
    if thing.name != "tenantry" or not isinstance(limits, list) or len(limits) != 1:
        return False
    only = {key: value for key, value in limits[0].items() if key != "type"}
    if limits[0].get("type") != "Container" or not only.keys() <= set(_LIMITS):
        return False
    found["limits"] = only
    return True


def _policy(_: Space, thing: Thing, found: dict[str, Any]) -> bool:
    if thing.name != "tenantry-isolated":
        return False
    if "Egress" in thing.spec.get("policyTypes", ()):
        found["network"] = "strict"
    return True


def _people(space: Space, thing: Thing, found: dict[str, Any]) -> bool:
    """Owners, by the name that Tenantry gives their binding."""
    role = str(thing.at("roleRef", "name"))
    subjects = [_subject(space, subject) for subject in mappings_in(thing.at("subjects"))]
    if thing.at("roleRef", "kind") != "ClusterRole" or None in subjects or not subjects:
        return False
    if thing.name != join(space.tenant, "owners", role):
        return False
    more = {"role": role} if role != "view" else {}
    found["owners"] = [*found.get("owners", []), *({**each, **more} for each in subjects if each)]
    return True


def _subject(space: Space, written: dict[str, Any]) -> dict[str, Any] | None:
    name = str(written.get("name"))
    if written.get("kind") == "ServiceAccount":
        home = written.get("namespace", space.namespace)
        elsewhere = {"namespace": space.keys.get(home, home)} if home != space.namespace else {}
        return {"serviceAccount": {"name": name, **elsewhere}}
    key = {"User": "user", "Group": "group"}.get(str(written.get("kind")))
    return {key: name} if key and not name.startswith("system:") else None


def _declare(thing: Thing, objects: dict[str, Any]) -> None:
    """Add an object by a key that no other one has: objects of several kinds may have one name."""
    key = free_name(objects, slug(thing.name))
    objects[key] = manifest_of(thing, key)


def manifest_of(thing: Thing, key: str) -> dict[str, Any]:
    """An entry of `objects`, which keeps the object's name."""
    metadata = {**({"name": thing.name} if thing.name != key else {}), **thing.metadata}
    manifest = {key: value for key, value in thing.read.manifest.items() if key != "metadata"}
    made = {**manifest, **({"metadata": metadata} if metadata else {})}
    first = {key: made.pop(key) for key in ("apiVersion", "kind", "metadata") if key in made}
    return dict(literal({**first, **made}))


def namespace_of_addon(made: Thing, inside: Iterable[Thing], notes: Notes, path: tuple[str, ...]) -> dict[str, Any]:
    """The entry of a namespace that an add-on owns. inside: what Tenantry made in it; path: of the namespaces in the file."""
    found = _of_namespace(made)
    if not any(key.startswith(_SECURITY) for key in made.labels):
        del found["podSecurity"]
    objects: dict[str, Any] = {}
    for thing in inside:
        _declare(thing, objects)
        notes.take(thing.read, *path)
    notes.take(made.read, *path)
    return {**found, **({"objects": objects} if objects else {})}


def account_of(thing: Thing | None) -> dict[str, Any]:
    """`serviceAccount:` beside its name: what the account says of itself."""
    if thing is None:
        return {}
    made: dict[str, Any] = {key: each for key, each in thing.metadata.items() if key == "annotations"}
    secrets = thing.read.manifest.get("imagePullSecrets")
    if isinstance(secrets, list) and secrets:
        made["imagePullSecrets"] = [str(mapping_at(secret).get("name")) for secret in secrets]
    return made


_OF_NAMESPACES = ("quota", "limits", "labels", "annotations", "podSecurity", "objects")


def difference(main: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """What the entry of an extra namespace says: it is merged with the settings of the main one."""
    found: dict[str, Any] = {}
    if (network := extra.get("network", "isolated")) != main.get("network", "isolated"):
        found["network"] = network
    for key in _OF_NAMESPACES:
        ours, theirs = (_whole(key, each.get(key)) for each in (main, extra))
        if ours == theirs:
            continue
        found[key] = _changed(ours, theirs)
    return found


def _whole(key: str, value: Any) -> dict[str, Any]:
    """A setting in its long form."""
    if key == "podSecurity":
        return (
            dict.fromkeys(("enforce", "audit", "warn"), value)
            if isinstance(value, str)
            else value or {"enforce": "baseline"}
        )
    return dict(value or {})


def _changed(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """What makes one mapping of the other, where mappings merge and null removes."""
    found: dict[str, Any] = dict.fromkeys(ours.keys() - theirs.keys())
    for key, value in theirs.items():
        if isinstance(value, dict) and isinstance(ours.get(key), dict):
            if below := _changed(ours[key], value):
                found[key] = below
        elif ours.get(key) != value:
            found[key] = value
    return found
