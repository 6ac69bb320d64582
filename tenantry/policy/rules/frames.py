"""Rules about what the main file decides for a tenant's namespaces: roles, pod security, labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tenantry.policy.frame import LEVELS
from tenantry.policy.main_file import CLOSED
from tenantry.policy.resource import ROLE, TENANT, Resource, as_text, entries, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.stack import gives_all, is_binding
from tenantry.policy.tenants import CLUSTER, ENVIRONMENT, Place, Tenants

_ACCOUNT = "system:serviceaccount:"
_POD_SECURITY = "pod-security.kubernetes.io/"
_OWN_LABELS = (
    *(ROLE, TENANT, CLUSTER, ENVIRONMENT, "tenantry/account", "tenantry/state"),
    *("app.kubernetes.io/managed-by", "kustomize.toolkit.fluxcd.io/prune"),
)
_OWN_ANNOTATIONS = (
    "helm.sh/resource-policy",
    "pulumi.com/",
    "tenantry/formerly",
    "tenantry/leaving",
    "tenantry/require-",
)
_UNNAMED = ("nobody whom the main file names", "unknown")
"""Subjects that belong to nobody else."""
_LIMITS = (
    ("ResourceQuota", "quota", "tenantry"),
    ("LimitRange", "limits", "tenantry"),
    ("NetworkPolicy", "network", "tenantry-isolated"),
)
"""The kind of object for each setting, and its name."""
_ROLE_OF_NAMESPACES = {ROLE: "tenant", "kustomize.toolkit.fluxcd.io/prune": "disabled"}


def tenants_bindings_keep_to_the_frame(tenants: Tenants) -> Iterator[Violation]:
    """Roles and bindings in a tenant's namespaces are those that the main file allows, for nobody of other tenants, the platform or
    the system. cluster-admin, and a role that gives as much, need `clusterAdmin: true` in the main file.
    """
    for resource, place in tenants.placed:
        if resource.kind == "Role" and gives_all(resource) and not place.frame.may_have_cluster_admin:
            what = f"{resource} gives all rights in a namespace of tenant '{place.tenant}'"
            yield Violation(resource, what, "name verbs and resources, or set 'clusterAdmin: true' for the tenant")
        elif resource.kind == "Role" and not (place.is_declared(resource) or _is_as_the_frame_says(resource, place)):
            what = f"{resource} is no role that the main file gives to tenant '{place.tenant}'"
            yield Violation(resource, what, "let `tenantry up` make it of the tenant's 'roles:'")
        if not is_binding(resource) or place.is_cluster_right(resource):
            continue
        role = mapping(resource.props.get("roleRef"))
        if not _may_give(resource, role, place):
            what = f"{resource} gives the role '{role.get('name')}', which is not granted to tenant '{place.tenant}'"
            yield Violation(
                resource, what, f"choose one of {', '.join(sorted(place.frame.roles))}, or extend its 'grants:'"
            )
        for subject in entries(resource.props.get("subjects")):
            whose = _whose(subject, place, tenants)
            if whose and not (whose in _UNNAMED and place.is_declared(resource)):
                what = (
                    f"{resource} of tenant '{place.tenant}' gives a role to '{subject.get('name')}', which is {whose}"
                )
                yield Violation(resource, what, "name people and service accounts of the tenant")


def tenants_namespaces_keep_their_pod_security(tenants: Tenants) -> Iterator[Violation]:
    """The namespaces of a tenant enforce the pod security that the main file sets, at least `baseline` where it sets none.
    A privileged pod reaches everything on its node.
    """
    for resource in tenants.namespaces:
        place = tenants.place_of(resource)
        if place is None:
            continue
        wanted = place.frame.pod_security(place.frame.extra(place.environment).get(resource.name, ""))
        level, version = wanted["enforce"], wanted.get("enforce-version", "")
        found = str(resource.labels.get(f"{_POD_SECURITY}enforce", ""))
        if found not in LEVELS or LEVELS.index(found) < LEVELS.index(level):
            what = f"{resource} of tenant '{place.tenant}' enforces '{found or 'nothing'}'"
            yield Violation(resource, what, f"set {_POD_SECURITY}enforce: {level}")
        pinned = str(resource.labels.get(f"{_POD_SECURITY}enforce-version", ""))
        if pinned != version:
            what = f"{resource} of tenant '{place.tenant}' enforces the standard of '{pinned or 'the cluster'}'"
            fix = (
                f"set {_POD_SECURITY}enforce-version: {version}"
                if version
                else f"remove {_POD_SECURITY}enforce-version"
            )
            yield Violation(resource, what, fix)


def tenants_limits_are_those_of_the_main_file(tenants: Tenants) -> Iterator[Violation]:
    """Quota, limits and isolation of a tenant's namespaces are those of the main file, unless it leaves them to the tenant. A
    tenant without them can take what others need, or let others in.
    """
    there = {(each.kind, each.namespace, each.name, _cluster(each)): each for each in tenants.objects}
    for resource in tenants.namespaces:
        if (place := tenants.place_of(resource)) is None:
            continue
        key = place.frame.extra(place.environment).get(resource.name, "")
        for kind, setting, name in _LIMITS:
            found = there.get((kind, resource.name, name, place.cluster))
            if place.frame.leaves(setting):
                continue
            policies = place.frame.network_policies(key) if setting == "network" else ()
            others = [there.get((kind, resource.name, f"tenantry-{policy}", place.cluster)) for policy in policies]
            if not _is_as_written(place, setting, key, found) or None in others:
                what = f"{resource} of tenant '{place.tenant}' has another '{setting}' than the main file sets"
                yield Violation(resource, what, f"set '{setting}' in the main file, or add it to 'grants.settings'")


def tenants_labels_are_granted(tenants: Tenants) -> Iterator[Violation]:
    """Labels and annotations of a tenant's namespaces are those of the main file, or have a prefix that it grants. Many
    tools take orders from them: they inject containers, skip checks, or hand out identities.
    """
    for resource in tenants.namespaces:
        place = tenants.place_of(resource)
        if place is None:
            continue
        for kind in ("labels", "annotations"):
            for key in _not_granted(resource, place, kind):
                what = f"{resource} of tenant '{place.tenant}' has {kind[:-1]} '{key}', which is not granted to it"
                yield Violation(resource, what, f"remove it, or add its prefix to 'grants.{kind}' of the tenant")
        for key, value in {**_ROLE_OF_NAMESPACES, TENANT: place.tenant}.items():
            if resource.labels.get(key) != value:
                yield Violation(resource, f"{resource} has no label {key}: {value}", f"add {key}: {value}")


def _is_as_the_frame_says(role: Resource, place: Place) -> bool:
    """Whether a Role is one of the main file's `roles`."""
    written = mapping(mapping(place.frame.settings.get("roles")).get(role.name)).get("rules")
    return bool(written) and as_text(written) == as_text(role.props.get("rules"))


def _may_give(binding: Resource, role: Mapping[str, Any], place: Place) -> bool:
    """Whether a binding may name a role: one of the frame, or what the main file writes in a binding of its own."""
    own = mapping(place.frame.settings.get("roles"))
    if (
        role.get("kind") == ("Role" if role.get("name") in own else "ClusterRole")
        and role.get("name") in place.frame.roles
    ):
        return True
    return place.is_declared(binding) and (role.get("name") != "cluster-admin" or place.frame.may_have_cluster_admin)


def tenants_flux_objects_carry_granted_metadata(tenants: Tenants) -> Iterator[Violation]:
    """Labels and annotations of a tenant's Flux objects are the fleet's, those of the main file, or have a prefix that it grants.
    Flux, Pulumi and Tenantry take orders from them: what reconciles an object, whether it is removed, whose it is.
    """
    for resource, place in tenants.placed:
        if not resource.group.endswith(".toolkit.fluxcd.io"):
            continue
        for kind in ("labels", "annotations"):
            for key, value in mapping(mapping(resource.props.get("metadata")).get(kind)).items():
                if not _is_allowed(resource, key, str(value), place, kind):
                    what = f"{resource} of tenant '{place.tenant}' has {kind[:-1]} '{key}', which is not granted to it"
                    yield Violation(resource, what, f"remove it, or add its prefix to 'grants.{kind}' of the tenant")


_SHARD = "sharding.fluxcd.io/key"
_OF_FLUX_OBJECTS = ("tenantry/", "toolkit.fluxcd.io/", "app.kubernetes.io/managed-by", "pulumi.com/")


def _is_allowed(resource: Resource, key: str, value: str, place: Place, kind: str) -> bool:
    if key == _SHARD:
        return value in _shards(place, place.frame.own if resource.tenant else {})
    if key.startswith(_OF_FLUX_OBJECTS):
        return True
    granted = tuple(str(each) for each in place.frame.grants.get(kind) or ())
    return key.startswith(granted) or key in place.frame.metadata_keys(kind)


def _shards(place: Place, own: Mapping[str, Any]) -> list[str]:
    """The shard that the main file assigns, or those of the environment, one of which a name decides. own: the author's entry."""
    file = place.frame.file
    assigned = own.get("shard") or mapping(file.clusters.get(place.cluster)).get("shard")
    listed = file.environments.get(place.environment, {}).get("fluxShards")
    return [str(assigned)] if assigned else [str(each) for each in listed or ()]


def _cluster(resource: Resource) -> str:
    return str((resource.by or resource).labels.get(CLUSTER, ""))


def _is_as_written(place: Place, setting: str, key: str, found: Resource | None) -> bool:
    """Whether the object for a setting is as the main file says, or is absent if the main file says nothing."""
    if setting == "network":
        return found is not None or not place.frame.is_isolated(key)
    wanted = place.frame.limit(setting, key)
    if setting == "quota":
        given = mapping(found.spec.get("hard")) if found else {}
        return {name: str(value) for name, value in wanted.items()} == dict(given)
    given = next(iter(entries(found.spec.get("limits"))), {}) if found else {}
    return bool(_texts(wanted) == _texts({name: value for name, value in given.items() if name != "type"}))


def _texts(value: Any) -> Any:
    """The value with text for each number; empty mappings are none."""
    if not isinstance(value, Mapping):
        return str(value)
    return {name: text for name, inner in value.items() if (text := _texts(inner)) != {}}


def _whose(subject: Mapping[str, Any], place: Place, tenants: Tenants) -> str:
    """To whom a subject belongs that the tenant may not name, in words; "" if it may."""
    kind, name = str(subject.get("kind")), str(subject.get("name"))
    namespace = str(subject.get("namespace") or "")
    if kind == "User" and name.startswith(_ACCOUNT):
        homes = (place.home, *(() if place.kubeconfig else place.frame.accounts(place.environment)))
        if name in [f"{_ACCOUNT}{home}:{place.account}" for home in homes]:
            return ""
        return "another service account than that of the tenant"
    if name.startswith("system:"):
        return "Kubernetes' own"
    if kind != "ServiceAccount":
        return "" if place.frame.names_subject(kind, name) else _UNNAMED[0]
    return _whose_account(namespace, name, place, tenants)


def _whose_account(namespace: str, name: str, place: Place, tenants: Tenants) -> str:
    file = tenants.file
    if namespace in place.namespaces:
        return ""
    if holders := tenants.claims(place.environment).get(namespace):
        return f"of {', '.join(sorted(holders))}"
    # An add-on may be let in: it reads metrics of tenants, or backs them up.
    platforms = {file.home, *file.kubeconfig_namespaces}
    if namespace in platforms or any(fnmatchcase(namespace, each) for each in CLOSED):
        return "the platform's or the cluster's"
    return "" if place.frame.names_subject(kind="ServiceAccount", name=name, namespace=namespace) else _UNNAMED[1]


def _not_granted(resource: Resource, place: Place, kind: str) -> Iterator[str]:
    """The labels or annotations of a namespace that nobody allowed."""
    own = _OWN_LABELS if kind == "labels" else ()
    prefixes = (_POD_SECURITY,) if kind == "labels" else _OWN_ANNOTATIONS
    written = place.frame.written_keys(kind)
    granted = tuple(str(each) for each in place.frame.grants.get(kind) or ())
    for key, value in mapping(mapping(resource.props.get("metadata")).get(kind)).items():
        if key in own or key.startswith((*prefixes, *granted)):
            continue
        if str(value) not in written.get(key, ()):
            yield key
