"""Compares what an app applies before and after, object by object. Values of Secrets never leave this module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.compare.fields import Entry, FieldChange, changed_fields
from tenantry.compare.review.model import Effect
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.manifests.model import ObjectChange
from tenantry.messages.data import ABSENT
from tenantry.messages.redact import is_sensitive, kind_of

HIDDEN, OTHER = "(hidden)", "(hidden, other)"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def compared(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[tuple[ObjectChange, ...], int]:
    """The changes, in the order removed, added, changed; and how many objects are the same."""
    old, new = _by_id(before), _by_id(after)
    removed = [ObjectChange(Effect.REMOVED, id) for key, (id, _) in old.items() if key not in new]
    added = [ObjectChange(Effect.ADDED, id) for key, (id, _) in new.items() if key not in old]
    both = [(new[key][0], old[key][1], new[key][1]) for key in new if key in old]
    changed = [
        ObjectChange(Effect.CHANGED, id, fields) for id, one, other in both if (fields := _fields(id, one, other))
    ]
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


def _fields(id: ObjectId, before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    found = changed_fields(dict(before), dict(after))
    return tuple(FieldChange(each.path, *_shown(id, each)) for each in found)


def _shown(id: ObjectId, change: FieldChange) -> tuple[Any, Any]:
    """Both sides without secrets. A hidden value that changes is still seen to change."""
    one, other = (_masked(id, change.path, side) for side in (change.before, change.after))
    if one == other and one is not ABSENT:
        return HIDDEN, OTHER
    return one, other


def _masked(id: ObjectId, path: tuple[str | int, ...], value: Any) -> Any:
    if value is ABSENT:
        return value
    if _is_secret(id, path):
        return {str(key): HIDDEN for key in value} if isinstance(value, dict) else HIDDEN
    if isinstance(value, Mapping):
        return {key: _masked(id, (*path, str(key)), each) for key, each in value.items()}
    if isinstance(value, list):
        return [_masked(id, (*path, _entry(each)), each) for each in value]
    return HIDDEN if isinstance(value, str) and (kind_of(value) or _is_told(path)) else value


def _is_secret(id: ObjectId, path: tuple[str | int, ...]) -> bool:
    if id.kind != "Secret":
        return False
    return path[:1] in (("data",), ("stringData",)) or path == ("metadata", "annotations", _LAST_APPLIED)


def _is_told(path: tuple[str | int, ...]) -> bool:
    """Whether a key, or the name of an environment variable, says that the value is a secret itself."""
    names = [part for part in path[-2:] if isinstance(part, str)]
    return any(is_sensitive(name) for name in names) and not any(name.endswith(("Name", "Ref")) for name in names)


def _entry(value: Any) -> str | int:
    name = value.get("name") if isinstance(value, dict) else None
    return Entry(name) if isinstance(name, str) else 0
