"""The fields of objects that change although no key that their documents say differently explains it. They are told as they are.

So nothing of the difference of two plans is left untold, whatever the documents leave out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from tenantry.compare.diff import Changed
from tenantry.compare.fields import Entry, FieldChange, changed_fields
from tenantry.kube.objects import Manifest, object_id
from tenantry.plan.objects.lifecycle import LEAVING

ISOLATION = "NetworkPolicy tenantry-isolated"
"""Its rules name the tenant's other namespaces, if there are any."""

_OF_APPS = frozenset({"chartRef", "kubeConfig", "serviceAccountName", "sourceRef", "suspend"})
"""Fields of a Kustomization or HelmRelease that are told of its source, its tenant or its cluster, or as a state."""
_FIELDS = {
    "adopt": ("install", "upgrade"),
    "credentials": ("secretRef",),
    "keepCRDs": ("patches",),
    "retryInterval": ("install", "upgrade"),
    "state": ("deletionPolicy", "patches"),
}
"""Fields of Flux's objects that follow from a key of another name."""
_SOURCE = ("chart", "interval", "source", "timeout")
_KEYS = {
    "Alert": ("alerts",),
    "Bucket": _SOURCE,
    "ClusterRole": ("clusterRoles", "clusterObjects"),
    "ClusterRoleBinding": ("clusterRoles", "clusterObjects", "serviceAccount"),
    "ConfigMap": ("configs", "objects", "namespaces"),
    "GitRepository": _SOURCE,
    "HelmChart": (*_SOURCE, "helm"),
    "HelmRepository": _SOURCE,
    "LimitRange": ("limits", "objects", "namespaces"),
    "Namespace": ("annotations", "labels", "namespaces", "podSecurity", "serviceAccount", "state"),
    "NetworkPolicy": ("network", "objects", "namespaces"),
    "OCIRepository": _SOURCE,
    "Provider": ("alerts",),
    "Receiver": ("receivers",),
    "ResourceQuota": ("quota", "objects", "namespaces"),
    "Role": ("objects", "namespaces"),
    "RoleBinding": ("objects", "owners", "role", "serviceAccount", "namespaces"),
    "Secret": ("credentials", "objects", "namespaces"),
    "ServiceAccount": ("objects", "platformServiceAccount", "serviceAccount", "namespaces"),
}
"""The keys that an object of a kind comes from, beside an app's own. Objects of other kinds are written in the file."""
_WRITTEN = ("clusterObjects", "namespaces", "objects")


def untold_of_object(
    changed: Changed, keys: Collection[str], *, is_app: bool, is_source: bool
) -> Iterator[FieldChange]:
    """The fields of an object of Flux's. Args: keys: those that the documents of its part say differently."""
    kind, told = changed.id.kind, _OF_APPS if is_app else frozenset[str]()
    if is_app or is_source or kind == "HelmRelease":
        name = kind
        if not is_app and kind == "HelmRelease":  # of a tenant's baseline or an add-on's namespaces
            name = f"{kind} baseline" if changed.after.owner.tenant else f"{kind} of its namespaces"
            told = _OF_APPS | {"values"}
        following = {field for key in keys for field in (key, *_FIELDS.get(key, ()))}
        for each in changed.fields:
            if each.path[0] == "spec" and each.path[1] not in told and each.path[1] not in following:
                yield replace(each, path=(Entry(name), *each.path))
    elif not {*_KEYS.get(kind, _WRITTEN)} & {*keys}:
        for field in changed.fields:
            if field.path[0] != "metadata":
                yield replace(field, path=(Entry(f"{kind} {changed.id.name}"), *field.path))


def untold_of_manifests(
    before: Iterable[Manifest], after: Iterable[Manifest], keys: Collection[str]
) -> Iterator[FieldChange]:
    """The fields of objects in a tenant's namespaces and on its clusters, whoever creates them."""
    old = {object_id(each): each for each in before}
    for each in after:
        id = object_id(each)
        if id not in old or {*_KEYS.get(id.kind, _WRITTEN)} & {*keys}:
            continue
        for change in changed_fields(old[id], each):
            # States are told in sentences, and apps that were given up tell what their namespace says of them.
            if change.path[-1] != LEAVING and (change.path[0] != "metadata" or id.kind == "Namespace"):
                yield replace(change, path=(Entry(f"{id.kind} {id.name}"), *change.path))
