"""Manifests without what the API server adds, and without the values of Secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.kube.objects import Manifest

_SERVERS_OWN = (
    *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generation"),
    *("managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"),
)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""It repeats the whole object, with the values of a Secret."""


def cleaned(manifest: Manifest) -> dict[str, Any]:
    """A copy of an object as its author could have written it."""
    kept = {key: value for key, value in manifest.items() if key != "status"}
    metadata = {key: value for key, value in kept["metadata"].items() if key not in _SERVERS_OWN}
    notes = metadata.get("annotations")
    if isinstance(notes, dict):
        metadata["annotations"] = {key: value for key, value in notes.items() if key != _LAST_APPLIED}
    for key in ("annotations", "labels", "namespace"):
        if not metadata.get(key, True):
            del metadata[key]
    return {**_without_values(kept), "metadata": metadata}


def _without_values(manifest: dict[str, Any]) -> dict[str, Any]:
    """A Secret keeps the names of its keys, whatever version it claims to have."""
    if manifest.get("kind") != "Secret":
        return manifest
    values = (manifest.get(key) for key in ("data", "stringData"))
    keys = sorted({str(key) for each in values if isinstance(each, Mapping) for key in each})
    rest = {key: value for key, value in manifest.items() if key in ("apiVersion", "kind", "metadata", "type")}
    return {**rest, "data": dict.fromkeys(keys, "")}
