"""What a single Kustomization, HelmRelease or Namespace says, and what cannot be read of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.guard.held import Mark, Reference
from tenantry.guard.targets import history_problem
from tenantry.kube.objects import Manifest, ObjectId, labels_of
from tenantry.messages.data import mapping_at, value_at
from tenantry.plan.objects.lifecycle import KEEP, STATE_LABEL


def note_kubeconfig(
    id: ObjectId, manifest: Manifest, cluster: str, kubeconfigs: dict[tuple[str, Reference], bool]
) -> None:
    """Take what an object of a cluster says into `Held.kubeconfigs`."""
    if reference := kubeconfig_of(id, manifest):
        abandoned = is_decommissioned(manifest) and has_suspend(manifest)
        kubeconfigs[cluster, reference] = kubeconfigs.get((cluster, reference), True) and abandoned


def is_suspended(manifest: Manifest) -> bool:
    """By the fleet or by hand; what a cluster that is given up leaves behind, it is meant to."""
    return has_suspend(manifest) and not is_decommissioned(manifest)


def has_suspend(manifest: Manifest) -> bool:
    return bool(mapping_at(manifest, "spec").get("suspend"))


def is_decommissioned(manifest: Manifest) -> bool:
    return labels_of(manifest).get(STATE_LABEL) == "decommissioned"


def installed_in(manifest: Manifest) -> frozenset[str]:
    """Namespaces in its inventory. Empty if it is suspended: then Flux cleans up nothing."""
    if has_suspend(manifest):
        return frozenset()
    # An entry is `<namespace>_<name>_<group>_<kind>`.
    return frozenset(entry["id"].partition("_")[0] for entry in _entries(manifest) if _is_entry(entry)) - {""}


def _entries(manifest: Manifest) -> list[Any]:
    entries = mapping_at(manifest, "status", "inventory").get("entries")
    return entries if isinstance(entries, list) else []


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def namespaces_in(id: ObjectId, manifest: Manifest) -> list[tuple[str, Manifest]]:
    """Those that an object is or, as a baseline's release, installs, with their manifests."""
    if id.kind == "Namespace":
        return [(id.name, manifest)]
    return [
        (namespace["metadata"]["name"], namespace)
        for namespace in installed_namespaces(manifest)
        if is_named(namespace)
    ]


def installed_namespaces(manifest: Manifest) -> Iterator[Manifest]:
    """The Namespaces among the objects that a baseline installs."""
    objects = mapping_at(manifest, "spec", "values").get("objects")
    for manifest in objects if isinstance(objects, list) else ():
        if isinstance(manifest, dict) and manifest.get("kind") == "Namespace":
            yield manifest


def mark_of(release: Manifest, namespace: Manifest) -> Mark:
    if is_decommissioned(release) or _has_installed_nothing(release):
        return Mark(is_kept=True, is_freed=True)
    keeps = KEEP.items() <= mapping_at(dict(namespace), "metadata", "annotations").items()
    settled = is_settled(release)
    return Mark(is_kept=settled and keeps, is_freed=settled and not keeps)


def _is_written(manifest: Manifest) -> bool:
    """Whether the object is in a plan or in a file, and not on a cluster."""
    return "generation" not in mapping_at(dict(manifest), "metadata")


def _has_installed_nothing(release: Manifest) -> bool:
    """Whether Flux has looked at the release and Helm has never installed it."""
    status = mapping_at(dict(release), "status")
    return not _is_written(release) and "conditions" in status and not status.get("history")


def has_applied_nothing(manifest: Manifest) -> bool:
    """Whether Flux's status proves that it has tried to apply the object, that this failed, and that it recorded nothing for it.

    Flux deletes with an object what the status lists, so the deletion of this one deletes nothing else. A status that is missing
    or cannot be read proves nothing. Nor does that of an attempt under way: Flux records only afterwards what that has applied.
    """
    status = mapping_at(dict(manifest), "status")
    if _readiness(status) != ["False"]:
        return False
    if manifest.get("kind") == "HelmRelease":
        return not any(status.get(key) for key in ("history", "lastAppliedRevision", "lastReleaseRevision"))
    # Its history lists failed attempts too.
    return status.get("inventory") in _NOTHING and not status.get("lastAppliedRevision")


_NOTHING: tuple[Any, ...] = (None, {}, {"entries": None}, {"entries": []})
"""Inventories of a Kustomization that has applied nothing."""


def _readiness(status: Mapping[str, Any]) -> list[Any]:
    """The states of the conditions of type Ready, of which there is one; empty if the conditions are malformed."""
    conditions = status.get("conditions")
    if not isinstance(conditions, list) or not all(isinstance(condition, dict) for condition in conditions):
        return []
    return [condition.get("status") for condition in conditions if condition.get("type") == "Ready"]


def is_settled(manifest: Manifest) -> bool:
    """Whether Flux is done with an object: it is ready as it is written, or not on a cluster."""
    status, metadata = (mapping_at(dict(manifest), key) for key in ("status", "metadata"))
    if _is_written(manifest):
        return True
    return "True" in _readiness(status) and status.get("observedGeneration") == metadata["generation"]


def is_named(manifest: Manifest) -> bool:
    return isinstance(mapping_at(manifest, "metadata").get("name"), str)


def kubeconfig_of(id: ObjectId, manifest: Manifest) -> Reference | None:
    references = mapping_at(manifest, "spec", "kubeConfig")
    named = mapping_at(references, "secretRef") or mapping_at(references, "configMapRef")
    name = named.get("name")
    return Reference(id.namespace, name) if isinstance(name, str) else None


_MAPPINGS = (("metadata", "labels"), ("spec",), ("spec", "kubeConfig"), ("status",), ("status", "inventory"))


def problems_of(id: ObjectId, manifest: Manifest, app: str) -> Iterator[str]:
    """What the guard cannot read of an object."""
    for path in _MAPPINGS if manifest.get("status") else _MAPPINGS[:3]:
        if not isinstance(value_at(manifest, path) or {}, dict):
            yield f"{'.'.join(path)} is not a mapping"
    if not all(map(_is_entry, _entries(manifest))):
        yield "status.inventory.entries has an entry without an id"
    if problem := history_problem(manifest):
        yield problem
    if id.kind == "Namespace" or app:
        return
    if not isinstance(mapping_at(manifest, "spec", "values").get("objects") or [], list):
        yield "spec.values.objects is not a list"
    if not all(map(is_named, installed_namespaces(manifest))):
        yield "spec.values.objects has a Namespace without a name"
