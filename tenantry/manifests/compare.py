"""Compares what an app applies before and after, object by object. `changed_fields` masks the secrets in it."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.compare.fields import FieldChange, changed_fields
from tenantry.compare.review.model import Effect
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.manifests.model import ObjectChange


def compared(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[tuple[ObjectChange, ...], int]:
    """The changes, in the order removed, added, changed; and how many objects are the same."""
    old, new = _by_id(before), _by_id(after)
    removed = [ObjectChange(Effect.REMOVED, id) for key, (id, _) in old.items() if key not in new]
    added = [ObjectChange(Effect.ADDED, id) for key, (id, _) in new.items() if key not in old]
    both = [(new[key][0], old[key][1], new[key][1]) for key in new if key in old]
    changed = [ObjectChange(Effect.CHANGED, id, fields) for id, one, other in both if (fields := _fields(one, other))]
    return (*removed, *added, *changed), len(both) - len(changed)


def _by_id(objects: Iterable[Manifest]) -> dict[tuple[str, ...], tuple[ObjectId, Manifest]]:
    """By group instead of version: an object in another version of its API is the same object."""
    found: dict[tuple[str, ...], tuple[ObjectId, Manifest]] = {}
    for manifest in objects:
        id = readable_id(manifest) or _unnamed(manifest)
        group = id.api_version.rpartition("/")[0]
        found[(group, *id[1:])] = (id, manifest)
    return found


def _unnamed(manifest: Manifest) -> ObjectId:
    """An object whose name the API server makes up, or a malformed one."""
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = f"{metadata['generateName']}*" if "generateName" in metadata else "(without a name)"
    return ObjectId(
        str(manifest.get("apiVersion")), str(manifest.get("kind")), str(metadata.get("namespace", "")), name
    )


def _fields(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    return tuple(changed_fields(dict(before), dict(after)))
