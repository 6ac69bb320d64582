"""Quotas, limits, pod security, admission and protection: what holds a tenant back, and holds less from now on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.facts.dangers.danger import ClusterDanger, DangerKind, Rank, of_owner
from tenantry.facts.dangers.pieces import Piece, Pieces
from tenantry.kube.objects import Manifest, holds_data, labels_of
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, mappings_in

_LIMITS = {"max": -1, "min": 1, "default": -1, "maxLimitRequestRatio": -1}
"""Keys of a LimitRange, and in which direction a change refuses more."""


def quota_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    for piece in pieces.of_kinds("ResourceQuota", "LimitRange"):
        if piece.kept:
            yield from (_quota if piece.key.kind == "ResourceQuota" else _limits)(piece)


def _quota(piece: Piece) -> Iterator[ClusterDanger]:
    old, new = (mapping_at(dict(manifest or {}), "spec", "hard") for manifest in (piece.before, piece.after))
    if tightened := list(_tighter(old, new, -1)):
        verb = "is lowered" if piece.before else "is new"
        yield of_owner(DangerKind.QUOTA, Rank.WORK, piece.key.owner, f"its quota {verb}: {_format(piece, tightened)}")
    if not new and old:
        yield of_owner(
            DangerKind.QUOTA, Rank.WORK, piece.key.owner, "its quota is removed: nothing limits what its pods use"
        )
    elif removed := [key for key in old if key not in new]:
        yield of_owner(DangerKind.QUOTA, Rank.WORK, piece.key.owner, f"its quota loses limits: {', '.join(removed)}")


def _limits(piece: Piece) -> Iterator[ClusterDanger]:
    tightened: list[str] = []
    for kind in ("Container", "Pod", "PersistentVolumeClaim"):
        old, new = (_of_type(manifest, kind) for manifest in (piece.before, piece.after))
        for key, direction in _LIMITS.items():
            changes = _tighter(mapping_at(old, key), mapping_at(new, key), direction)
            tightened += [f"{key} {_format(piece, [change])}" for change in changes]
    if tightened:
        verb = "are tightened" if piece.before else "are new"
        yield of_owner(DangerKind.LIMITS, Rank.WORK, piece.key.owner, f"its limits {verb}: {', '.join(tightened)}")
    if piece.after is None:
        yield of_owner(
            DangerKind.LIMITS,
            Rank.WORK,
            piece.key.owner,
            "its limits are removed: containers without limits of their own have none",
        )


def _tighter(old: Mapping[str, Any], new: Mapping[str, Any], direction: int) -> Iterator[tuple[str, Any, Any]]:
    """What allows less than before. Args: direction: -1 if a lower value does, 1 if a higher one does."""
    for key, value in new.items():
        before, after = number_of(old[key]) if key in old else None, number_of(value)
        unknown = (before is None and key in old) or after is None
        if key not in old or (unknown and old[key] != value):
            yield key, old.get(key), value
        elif before is not None and after is not None and (after - before) * direction > 0:
            yield key, old[key], value


def _format(piece: Piece, changes: list[tuple[str, Any, Any]]) -> str:
    return ", ".join(f"{key} {old or 'none'} -> {new}" if piece.before else f"{key} {new}" for key, old, new in changes)


def _of_type(manifest: Manifest | None, kind: str) -> dict[str, Any]:
    entries = mappings_in(mapping_at(dict(manifest or {}), "spec").get("limits"))
    return next((entry for entry in entries if entry.get("type") == kind), {})


_ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS = {"privileged": 0, "baseline": 1, "restricted": 2}
_ADMISSION = (
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"),
    *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration"),
    *("ClusterPolicy", "Policy", "K8sRequiredLabels", "ConstraintTemplate"),
)
"""Kinds that refuse or change objects; those of Kyverno and Gatekeeper too."""
_KEEPS = {"kustomize.toolkit.fluxcd.io/prune": "disabled", "helm.sh/resource-policy": "keep"}
"""Labels and annotations that keep an object when Flux would delete it."""


def security_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    for piece in pieces.of_kinds("Namespace"):
        yield from _pod_security(piece)
    for piece in pieces.of_kinds(*_ADMISSION):
        yield from _admission(piece)
    for piece in pieces.all:
        yield from _protection(piece)


def _pod_security(piece: Piece) -> Iterator[ClusterDanger]:
    """Without a label the cluster decides, which is privileged unless somebody configured it otherwise."""
    if piece.after is None:
        return
    after = labels_of(piece.after).get(_ENFORCE)
    if piece.before is None:
        lowered, change = after == "privileged", "privileged"
    else:
        before = labels_of(piece.before).get(_ENFORCE)
        lowered = _LEVELS.get(str(after), 0) < _LEVELS.get(str(before), 0)
        change = f"{before} -> {after or 'what the cluster has'}"
    if lowered:
        whose = "its pod security" if piece.key.owner.tenant else f"the pod security of namespace {piece.key.name}"
        text = f"{whose} is {'lowered' if piece.before else 'low'}: {change}"
        yield of_owner(DangerKind.POD_SECURITY, Rank.WALLS, piece.key.owner, text)


def _admission(piece: Piece) -> Iterator[ClusterDanger]:
    old, new = ({**(manifest or {}), "metadata": None} for manifest in (piece.before, piece.after))
    if piece.before is not None and old != new:
        what = "changes: look at what it allows" if piece.after else "is removed"
        yield of_owner(DangerKind.RIGHTS, Rank.ACCESS, piece.key.owner, f"{piece.key.kind} {piece.key.name} {what}")


def _protection(piece: Piece) -> Iterator[ClusterDanger]:
    """An object that stays and could be deleted from now on. `state: offboarding` decides of what can hold data."""
    if holds_data(piece.key.group, piece.key.kind):
        return
    if piece.before is None or piece.after is None or piece.before["metadata"] == piece.after["metadata"]:
        return
    for key, keeps in _KEEPS.items():
        if _marked(piece.before, key) == keeps != _marked(piece.after, key):
            text = f"{piece.key.kind} {piece.key.name} can be deleted by Flux: it loses {key}"
            yield of_owner(DangerKind.PROTECTION, Rank.ACCESS, piece.key.owner, text)


def _marked(manifest: Manifest, key: str) -> object:
    annotations = mapping_at(dict(manifest), "metadata", "annotations")
    return annotations.get(key, labels_of(manifest).get(key))
