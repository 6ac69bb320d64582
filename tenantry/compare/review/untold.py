"""What no document says of the objects of an app or a tenant, as it follows from names and places: the fields themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tenantry.compare.diff import Changed
from tenantry.compare.fields import Entry, FieldChange
from tenantry.kube.objects import KubeObject, Manifest, object_id
from tenantry.messages.data import mapping_at

ACCOUNT = "RoleBinding of the service account"
"""Its subjects are the users that Flux impersonates."""
ISOLATION = "NetworkPolicy tenantry-isolated"
"""Its rules name the tenant's other namespaces, if there are any."""

_OF_APPS = frozenset({"chartRef", "kubeConfig", "serviceAccountName", "sourceRef", "suspend"})
"""Fields of a Kustomization or HelmRelease that are told of its source, its tenant or its cluster, or as a state."""
_OF_BASELINES = _OF_APPS | {"install", "interval", "releaseName", "timeout", "upgrade", "values"}
_FOLLOWING = {
    "adopt": ("install",),
    "credentials": ("secretRef",),
    "keepCRDs": ("patches",),
    "retryInterval": ("install", "upgrade"),
    "state": ("deletionPolicy", "patches"),
}
"""Fields that follow from a key of another name."""


def untold_of_app(changed: Changed, keys: Collection[str]) -> Iterator[FieldChange]:
    """The fields of an app's object that none of the keys says which its documents say differently."""
    return _untold(changed, changed.id.kind, keys, _OF_APPS)


def untold_of_source(changed: Changed, keys: Collection[str]) -> Iterator[FieldChange]:
    """The fields of a source, in the same way."""
    return _untold(changed, changed.id.kind, keys, frozenset())


def untold_of_baseline(changed: Changed, keys: Collection[str]) -> Iterator[FieldChange]:
    """The fields of a baseline's release, without the objects that it installs."""
    return _untold(changed, f"{changed.id.kind} baseline", keys, _OF_BASELINES)


def _untold(changed: Changed, name: str, keys: Collection[str], told: frozenset[str]) -> Iterator[FieldChange]:
    following = {field for key in keys for field in (key, *_FOLLOWING.get(key, ()))}
    for each in changed.fields:
        if each.path[0] == "spec" and each.path[1] not in told and each.path[1] not in following:
            yield replace(each, path=(Entry(name), *each.path))


def untold_of_manifests(manifests: Iterable[Manifest], tenant: str) -> dict[str, Any]:
    """The subjects of the tenant's own bindings, and the rules of its isolation."""
    found: dict[str, Any] = {}
    for each in manifests:
        id = object_id(each)
        if id.kind == "NetworkPolicy" and id.name == "tenantry-isolated" and tenant:
            found[ISOLATION] = {"spec": each["spec"]}
        elif id.kind == "RoleBinding" and id.name.startswith(f"{tenant}-reconciler-"):
            found[ACCOUNT] = {"subjects": [_person(subject) for subject in each.get("subjects", ())]}
        elif id.kind == "ClusterRoleBinding" and id.name.startswith("tenantry."):
            found[f"{id.kind} {id.name.rpartition('.')[2]}"] = {"subjects": each.get("subjects", [])}
    return found


def _person(subject: dict[str, Any]) -> str:
    """Such as `group devs`."""
    if subject["kind"] == "ServiceAccount":
        return f"serviceAccount {subject['namespace']}/{subject['name']}"
    return f"{subject['kind'].lower()} {subject['name']}"


def installed(release: KubeObject) -> list[Manifest]:
    """The objects that a release of the chart of baselines installs."""
    objects: list[Manifest] = mapping_at(release.manifest, "spec", "values").get("objects", [])
    return objects


def changed_manifests(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """The manifests of each side that the other side lacks, or has with another content."""
    old, new = ({object_id(each): each for each in side} for side in (before, after))
    differ = {id for id in old.keys() & new.keys() if repr(old[id]) == repr(new[id])}
    return [each for id, each in old.items() if id not in differ], [
        each for id, each in new.items() if id not in differ
    ]
