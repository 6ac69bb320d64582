"""Quotas, limits, pod security, admission and protection: what holds a tenant back, and holds less from now on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.compare.review.dangers.found import Found, Piece, Pieces, Rank
from tenantry.compare.review.model import DangerKind
from tenantry.kube.objects import Manifest, holds_data, labels_of
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, mappings_in

_LIMITS = {"max": -1, "min": 1, "default": -1, "maxLimitRequestRatio": -1}
"""Keys of a LimitRange, and in which direction a change refuses more."""


def quota_dangers(pieces: Pieces) -> Iterator[Found]:
    for kind in pieces.of_kinds("ResourceQuota"):
        if kind.kept:
            yield from _quota(kind)
    for each in pieces.of_kinds("LimitRange"):
        if each.kept:
            yield from _limits(each)


def _quota(piece: Piece) -> Iterator[Found]:
    old, new = (mapping_at(dict(each or {}), "spec", "hard") for each in (piece.before, piece.after))
    if tightened := list(_tighter(old, new, -1)):
        verb = "is lowered" if piece.before else "is new"
        yield _found(DangerKind.QUOTA, piece, "the quota of ", verb, f": {_in_words(piece, tightened)}")
    if not new and old:
        yield _found(DangerKind.QUOTA, piece, "the quota of ", "is removed", ": nothing limits what its pods use")
    elif gone := [key for key in old if key not in new]:
        yield _found(DangerKind.QUOTA, piece, "the quota of ", "loses limits", f": {', '.join(gone)}")


def _limits(piece: Piece) -> Iterator[Found]:
    found: list[str] = []
    for kind in ("Container", "Pod", "PersistentVolumeClaim"):
        old, new = (_of_type(each, kind) for each in (piece.before, piece.after))
        for key, direction in _LIMITS.items():
            changes = _tighter(mapping_at(old, key), mapping_at(new, key), direction)
            found += [f"{key} {_in_words(piece, [change])}" for change in changes]
    if found:
        verb = "are tightened" if piece.before else "are new"
        yield _found(DangerKind.LIMITS, piece, "the limits of ", verb, f": {', '.join(found)}")
    if piece.after is None:
        tail = ": containers without limits of their own have none"
        yield _found(DangerKind.LIMITS, piece, "the limits of ", "are removed", tail)


def _found(kind: DangerKind, piece: Piece, lead: str, verb: str, tail: str) -> Found:
    return Found(kind, Rank.WORK, *piece.key.owner, verb=verb, tail=tail, lead=lead)


def _tighter(old: Mapping[str, Any], new: Mapping[str, Any], direction: int) -> Iterator[tuple[str, Any, Any]]:
    """What allows less than before. Args: direction: -1 if a lower value does, 1 if a higher one does."""
    for key, value in new.items():
        before, after = number_of(old[key]) if key in old else None, number_of(value)
        unknown = (before is None and key in old) or after is None
        if key not in old or (unknown and old[key] != value):
            yield key, old.get(key), value
        elif before is not None and after is not None and (after - before) * direction > 0:
            yield key, old[key], value


def _in_words(piece: Piece, changes: list[tuple[str, Any, Any]]) -> str:
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


def security_dangers(pieces: Pieces) -> Iterator[Found]:
    for kind in pieces.of_kinds("Namespace"):
        yield from _pod_security(kind)
    for each in pieces.of_kinds(*_ADMISSION):
        yield from _admission(each)
    for each in pieces.all:
        yield from _protection(each)


def _pod_security(piece: Piece) -> Iterator[Found]:
    """Without a label the cluster decides, which is privileged unless somebody configured it otherwise."""
    if piece.after is None:
        return
    after = labels_of(piece.after).get(_ENFORCE)
    if piece.before is None:
        lowered, change = after == "privileged", "privileged"
    else:
        before = labels_of(piece.before).get(_ENFORCE)
        lowered = before != after and _level(after) < _level(before)
        change = f"{before} -> {after or 'what the cluster has'}"
    if lowered:
        who = "" if piece.key.owner.tenant else f"namespace '{piece.key.name}'"
        verb = "is lowered" if piece.before else "is low"
        lead = "the pod security of "
        tail = f": {change}"
        yield Found(DangerKind.POD_SECURITY, Rank.WALLS, *piece.key.owner, verb, tail, lead, who)


def _level(label: object) -> int:
    return _LEVELS.get(str(label), 0)


def _admission(piece: Piece) -> Iterator[Found]:
    if piece.before is None or (piece.after and _judged(piece.before) == _judged(piece.after)):
        return
    what = "changes: look at what it allows" if piece.after else "is removed"
    name = f"{piece.key.kind} '{piece.key.name}'"
    yield Found(DangerKind.RIGHTS, Rank.ACCESS, *piece.key.owner, verb=what, who=name)


def _judged(manifest: Manifest) -> dict[str, object]:
    return {key: value for key, value in manifest.items() if key != "metadata"}


def _protection(piece: Piece) -> Iterator[Found]:
    """An object that stays and could be deleted from now on. `state: offboarding` decides of what can hold data."""
    if holds_data(piece.key.group, piece.key.kind):
        return
    if piece.before is None or piece.after is None or piece.before["metadata"] == piece.after["metadata"]:
        return
    for key, keeps in _KEEPS.items():
        if _says(piece.before, key) == keeps != _says(piece.after, key):
            name = f"{piece.key.kind} '{piece.key.name}'"
            verb = "can be deleted by Flux"
            yield Found(
                DangerKind.PROTECTION, Rank.ACCESS, *piece.key.owner, verb=verb, who=name, tail=f": it loses {key}"
            )


def _says(manifest: Manifest, key: str) -> object:
    annotations = mapping_at(dict(manifest), "metadata", "annotations")
    return annotations.get(key, labels_of(manifest).get(key))
