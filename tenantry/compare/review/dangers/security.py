"""Walls of a namespace and of a cluster: pod security, admission policies, what keeps Flux from deleting objects."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.review.dangers.found import Found, Rank
from tenantry.compare.review.dangers.pieces import Piece, Pieces
from tenantry.compare.review.model import DangerKind
from tenantry.kube.objects import Manifest, holds_data, labels_of
from tenantry.messages.data import mapping_at

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
    for each in pieces.of_kinds("Namespace"):
        yield from _pod_security(each)
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
        verb = ("is lowered" if piece.before else "is low",) * 2
        lead = "the pod security of "
        tail = f": {change}"
        yield Found(DangerKind.POD_SECURITY, Rank.WALLS, *piece.key.owner, verb, tail, lead, who)


def _level(label: object) -> int:
    return _LEVELS.get(str(label), 0)


def _admission(piece: Piece) -> Iterator[Found]:
    if piece.before is None or (piece.after and _judged(piece.before) == _judged(piece.after)):
        return
    what = ("changes: look at what it allows",) * 2 if piece.after else ("is removed",) * 2
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
            verb = ("can be deleted by Flux",) * 2
            yield Found(
                DangerKind.PROTECTION, Rank.ACCESS, *piece.key.owner, verb=verb, who=name, tail=f": it loses {key}"
            )


def _says(manifest: Manifest, key: str) -> object:
    annotations = mapping_at(dict(manifest), "metadata", "annotations")
    return annotations.get(key, labels_of(manifest).get(key))
