"""Quotas, limits, pod security and admission: what holds a tenant back, and holds less from now on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.facts.dangers.danger import ClusterDanger, DangerKind
from tenantry.facts.dangers.pieces import Piece, Pieces
from tenantry.kube.objects import Manifest, labels_of
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, mappings_in

_LIMITS = {"max": -1, "min": 1, "default": -1, "maxLimitRequestRatio": -1}
"""Keys of a LimitRange, and in which direction a change refuses more."""
_ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS = {"privileged": 0, "baseline": 1, "restricted": 2}
_ADMISSION = (
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"),
    *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration"),
    *("ClusterPolicy", "Policy", "K8sRequiredLabels", "ConstraintTemplate"),
)
"""Kinds that refuse or change objects; those of Kyverno and Gatekeeper too."""


def limit_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    for piece in pieces.of_kinds("Namespace"):
        yield from _pod_security(piece)
    for piece in pieces.of_kinds(*_ADMISSION):
        yield from _admission(piece)
    for piece in pieces.of_kinds("ResourceQuota", "LimitRange"):
        if piece.kept:
            yield from (_quota if piece.key.kind == "ResourceQuota" else _limits)(piece)


def _quota(piece: Piece) -> Iterator[ClusterDanger]:
    old, new = (mapping_at(manifest, "spec", "hard") for manifest in (piece.before, piece.after))
    if tightened := list(_tighter(old, new, -1)):
        verb = "is lowered" if piece.before else "is new"
        yield piece.danger(DangerKind.QUOTA, f"its quota {verb}: {_format(piece, tightened)}")
    if not new and old:
        yield piece.danger(DangerKind.QUOTA, "its quota is removed: nothing limits what its pods use")
    elif removed := [key for key in old if key not in new]:
        yield piece.danger(DangerKind.QUOTA, f"its quota loses limits: {', '.join(removed)}")


def _limits(piece: Piece) -> Iterator[ClusterDanger]:
    tightened: list[str] = []
    for kind in ("Container", "Pod", "PersistentVolumeClaim"):
        old, new = (_of_type(manifest, kind) for manifest in (piece.before, piece.after))
        for key, direction in _LIMITS.items():
            changes = _tighter(mapping_at(old, key), mapping_at(new, key), direction)
            tightened += [f"{key} {_format(piece, [change])}" for change in changes]
    if tightened:
        verb = "are tightened" if piece.before else "are new"
        yield piece.danger(DangerKind.LIMITS, f"its limits {verb}: {', '.join(tightened)}")
    if piece.after is None:
        text = "its limits are removed: containers without limits of their own have none"
        yield piece.danger(DangerKind.LIMITS, text)


def _tighter(old: Mapping[str, Any], new: Mapping[str, Any], direction: int) -> Iterator[tuple[str, Any, Any]]:
    """What allows less than before. Args: direction: -1 if a lower value does, 1 if a higher one does."""
    for key, value in new.items():
        before, after = number_of(old[key]) if key in old else None, number_of(value)
        if before is None or after is None:
            if key not in old or old[key] != value:
                yield key, old.get(key), value
        elif (after - before) * direction > 0:
            yield key, old[key], value


def _format(piece: Piece, changes: list[tuple[str, Any, Any]]) -> str:
    return ", ".join(f"{key} {old or 'none'} -> {new}" if piece.before else f"{key} {new}" for key, old, new in changes)


def _of_type(manifest: Manifest | None, kind: str) -> dict[str, Any]:
    entries = mappings_in(mapping_at(manifest, "spec").get("limits"))
    return next((entry for entry in entries if entry.get("type") == kind), {})


def _pod_security(piece: Piece) -> Iterator[ClusterDanger]:
    """Without a label the cluster decides, which is privileged unless somebody configured it otherwise."""
    before, after = (labels_of(manifest or {}).get(_ENFORCE) for manifest in (piece.before, piece.after))
    lowered = _LEVELS.get(str(after), 0) < _LEVELS.get(str(before), 0) if piece.before else after == "privileged"
    if piece.after and lowered:
        whose = "its pod security" if piece.key.owner.tenant else f"the pod security of namespace {piece.key.name}"
        change = f"lowered: {before} -> {after or 'what the cluster has'}" if piece.before else f"low: {after}"
        yield piece.danger(DangerKind.POD_SECURITY, f"{whose} is {change}")


def _admission(piece: Piece) -> Iterator[ClusterDanger]:
    old, new = ({**(manifest or {}), "metadata": None} for manifest in (piece.before, piece.after))
    if piece.before is not None and old != new:
        what = "changes: look at what it allows" if piece.after else "is removed"
        yield piece.danger(DangerKind.RIGHTS, f"{piece.key.kind} {piece.key.name} {what}")
