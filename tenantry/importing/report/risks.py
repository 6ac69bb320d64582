"""Changes of an adoption that can move, restart or refuse what runs. Look at each before the first `tenantry up`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tenantry.compare.fields import FieldChange
from tenantry.importing.model import Proof
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT
from tenantry.messages.text import format_path

_OTHER_MANIFESTS = "Flux applies other manifests, and deletes what only the old ones have"
_NEW_RELEASE = "Flux uninstalls the release and installs another one"
_UPGRADE = "Helm upgrades the release, so pods can restart"

_FIELDS: Mapping[str, Mapping[tuple[str, ...], str]] = {
    "Kustomization": {
        (
            "spec",
            "targetNamespace",
        ): "Flux moves what the manifests put into other namespaces: it deletes the old objects",
        ("spec", "path"): _OTHER_MANIFESTS,
        ("spec", "sourceRef"): _OTHER_MANIFESTS,
        ("spec", "components"): _OTHER_MANIFESTS,
        ("spec", "kubeConfig"): "Flux applies the manifests to another cluster",
        ("spec", "prune"): "Flux deletes what its manifests no longer have",
        ("spec", "postBuild"): "Flux applies other values, so pods can restart",
        ("spec", "serviceAccountName"): "Flux acts with the rights of another account",
    },
    "HelmRelease": {
        ("spec", "releaseName"): _NEW_RELEASE,
        ("spec", "targetNamespace"): _NEW_RELEASE,
        ("spec", "storageNamespace"): _NEW_RELEASE,
        ("spec", "chart", "spec", "chart"): _NEW_RELEASE,
        ("spec", "chart", "spec", "version"): _UPGRADE,
        ("spec", "chart", "spec", "valuesFiles"): _UPGRADE,
        ("spec", "values"): _UPGRADE,
        ("spec", "valuesFrom"): _UPGRADE,
        ("spec", "postRenderers"): _UPGRADE,
        ("spec", "kubeConfig"): "Flux installs the release on another cluster",
        ("spec", "serviceAccountName"): "Flux acts with the rights of another account",
    },
}
_CREATED = {
    "NetworkPolicy": "it blocks traffic that is allowed today",
    "ResourceQuota": "pods beyond it are refused when they start next",
    "LimitRange": "pods that start next get its defaults and limits",
}
_ENFORCE = ("metadata", "labels", "pod-security.kubernetes.io/enforce")


@dataclass(frozen=True, slots=True)
class Risk:
    """field: the field that changes, as a path with dots; empty: the object is new."""

    environment: str
    id: ObjectId
    field: str
    reason: str


def risks(proof: Proof) -> Iterator[Risk]:
    """The risks of what changes, then of what is created."""
    for each in proof.kept:
        for field in each.changed:
            if reason := _reason(each.planned.id.kind, field):
                path = tuple(part if isinstance(part, int) else str(part) for part in field.path)
                yield Risk(each.read.environment, each.planned.id, format_path(path), reason)
    for new in proof.added:
        if new.id.kind in _CREATED:
            yield Risk(new.environment, new.id, "", _CREATED[new.id.kind])


def _reason(kind: str, field: FieldChange) -> str:
    if kind == "Namespace" and field.path == _ENFORCE and field.after not in ("privileged", ABSENT):
        return "pods that break this level are refused when they start next"
    found = (reason for path, reason in _FIELDS.get(kind, {}).items() if field.path[: len(path)] == path)
    return next(found, "")
