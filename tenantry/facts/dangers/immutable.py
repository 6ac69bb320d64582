"""Objects whose fields no API server changes: they are deleted and created anew, or their baseline fails.

Called by: `dangers`, for objects of both plans. What apps install is not in a plan, and whether a live object differs only the
guard and `preflight` can see.
Source: k8s.io/kubernetes `pkg/apis/*/validation`, the functions `Validate...Update`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.facts.dangers.found import DangerKind, Found, Rank, owner_subject
from tenantry.facts.dangers.pieces import Piece, Pieces
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import listed

_FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "PersistentVolume"): ("spec.csi", "spec.hostPath", "spec.local", "spec.nfs", "spec.volumeMode"),
    ("", "Secret"): ("type",),
    ("", "Service"): ("spec.clusterIP", "spec.clusterIPs", "spec.loadBalancerClass"),
    ("apps", "DaemonSet"): ("spec.selector",),
    ("apps", "Deployment"): ("spec.selector",),
    ("apps", "ReplicaSet"): ("spec.selector",),
    ("batch", "Job"): ("spec.completionMode", "spec.podFailurePolicy", "spec.selector", "spec.template"),
    ("discovery.k8s.io", "EndpointSlice"): ("addressType",),
    ("networking.k8s.io", "IngressClass"): ("spec.controller",),
    ("node.k8s.io", "RuntimeClass"): ("handler",),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ("roleRef",),
    ("rbac.authorization.k8s.io", "RoleBinding"): ("roleRef",),
    ("resource.k8s.io", "ResourceClaim"): ("spec",),
    ("scheduling.k8s.io", "PriorityClass"): ("preemptionPolicy", "value"),
    ("storage.k8s.io", "StorageClass"): ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"),
}
"""By group and kind, the fields that stay as they are."""
_CHANGEABLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "PersistentVolumeClaim"): ("resources", "volumeAttributesClassName"),
    ("", "Pod"): (
        "activeDeadlineSeconds",
        "containers",
        "initContainers",
        "terminationGracePeriodSeconds",
        "tolerations",
    ),
    ("apps", "StatefulSet"): (
        *("minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy", "replicas", "revisionHistoryLimit"),
        *("template", "updateStrategy"),
    ),
}
"""By group and kind, the only parts of the spec that change."""
_FROZEN = {"ConfigMap": ("binaryData", "data"), "Secret": ("data", "stringData")}
"""What stays where `immutable` is true, which itself stays then, too."""
_COSTS = {
    "Job": ", and it runs again",
    "PersistentVolumeClaim": " with its data",
    "StatefulSet": ", with a gap of its pods",
    "Deployment": ", with a gap of its pods",
    "DaemonSet": ", with a gap of its pods",
    "Service": ", with another address",
    "RoleBinding": ", and the rights are missing meanwhile",
    "ClusterRoleBinding": ", and the rights are missing meanwhile",
}


def immutable_dangers(pieces: Pieces) -> Iterator[Found]:
    """A danger for each object that both plans have, and that no API server changes from the one to the other."""
    for piece in pieces.all:
        if piece.before and piece.after and piece.kept and (fields := list(_changed(piece))):
            kind = piece.key.kind
            text = (
                f"{kind} {piece.key.name} cannot change in {listed(fields)}: on a management cluster it is deleted and created anew"
                f"{_COSTS.get(kind, '')}; on a remote cluster its baseline fails until somebody deletes it"
            )
            owner = piece.key.owner
            yield Found(DangerKind.REINSTALLATION, Rank.DATA, owner_subject(owner), owner.cluster, text)


def _changed(piece: Piece) -> Iterator[str]:
    """The fields that differ and may not."""
    before, after = dict(piece.before or {}), dict(piece.after or {})
    key = (piece.key.group, piece.key.kind)
    for field in _FIELDS.get(key, ()):
        old, new = (value_at(side, tuple(field.split("."))) for side in (before, after))
        # What is left out keeps its value, or the API server sets it, where it does not hold what the author wrote.
        if old != new and (new is not None or key[1] in ("Job", "StorageClass")):
            yield field
    if key in _CHANGEABLE:
        old, new = (_without(mapping_at(side, "spec"), _CHANGEABLE[key]) for side in (before, after))
        yield from (f"spec.{name}" for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name))
    if key[0] == "" and key[1] in _FROZEN and before.get("immutable") is True:
        yield from (name for name in ("immutable", *_FROZEN[key[1]]) if before.get(name) != after.get(name))


def _without(spec: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}
