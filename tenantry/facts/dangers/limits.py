"""What holds a tenant back, and holds less from now on: quotas, limits, pod security, admission, network policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tenantry.facts.dangers.pieces import ClusterDanger, DangerKind, Piece, Pieces
from tenantry.kube.names import join
from tenantry.kube.objects import Manifest, labels_of
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.text import grouped

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


_POLICY, _GROUP = "NetworkPolicy", "networking.k8s.io"
ISOLATED = join("tenantry", "isolated")
_DIRECTIONS = {"Ingress": "pods accept traffic from anywhere", "Egress": "pods may send traffic anywhere"}
"""What holds without a policy."""


class _Policy(NamedTuple):
    """One direction of a policy."""

    pods: Any
    rules: Sequence[Any]


def network_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    own = [piece for piece in pieces.all if piece.kept and piece.key.kind.endswith(_POLICY)]
    sides = [
        grouped(side.items(), lambda entry: (entry[0].owner, entry[0].namespace))
        for side in pieces.around(own, _POLICY)
    ]
    for piece in own:
        if piece.key.group == _GROUP:
            for direction in _DIRECTIONS:
                before, after = (
                    [
                        policy
                        for key, manifest in side.get((piece.key.owner, piece.key.namespace), ())
                        if key.group == _GROUP and (policy := _in_direction(manifest, direction))
                    ]
                    for side in sides
                )
                if text := _loosened(piece, direction, before, after):
                    yield piece.danger(DangerKind.NETWORK, f"its network {text}")
        elif piece.before is not None:  # a policy of another program, such as Cilium
            what = "changes" if piece.after else "is removed"
            text = f"its network may let through more: {piece.key.kind} {piece.key.name} {what}, look at it"
            yield piece.danger(DangerKind.NETWORK, text)


def _loosened(piece: Piece, direction: str, before: Sequence[_Policy], after: Sequence[_Policy]) -> str:
    """What a changed policy lets through from now on; "" for no more than before. Args: before, after: all of the namespace."""
    old, new = (_in_direction(side, direction) for side in (piece.before, piece.after))
    name, is_base = f"policy {piece.key.name}", piece.key.name == ISOLATED
    bases = f"{_base(piece.before)} -> {_base(piece.after)}"
    if old and not any(_covers(policy.pods, old.pods) for policy in after):
        return f"is opened: {bases if is_base else f'without {name}'}, {_DIRECTIONS[direction]}"
    if old and is_base:
        # Otherwise it lets in namespaces of the tenant itself, and nobody else.
        less = f"lets through more: {bases}, pods accept traffic from all namespaces without a tenant"
        return less if new and bases == "strict -> isolated" else ""
    # Where no policy was, a new one only restricts.
    if new and before and (more := _more(old, new, before)):
        return f"lets through more: {name} {'allows everything' if {} in more else 'changes' if old else 'is new'}"
    return ""


def _base(isolation: Manifest | None) -> str:
    """What `network` says where there is this policy."""
    types = mapping_at(isolation, "spec").get("policyTypes") or []
    return "strict" if "Egress" in types else "isolated" if isolation else "open"


def _more(old: _Policy | None, new: _Policy, before: Sequence[_Policy]) -> list[Any]:
    """The rules that no policy for at least the same pods had before."""
    known = [rule for policy in before if _covers(policy.pods, new.pods) for rule in policy.rules]
    if {} in known:
        return []
    if old and _covers(old.pods, new.pods):
        known += list(old.rules)
    return [rule for rule in new.rules if not any(_allows(allowed, rule) for allowed in known)]


def _allows(known: Any, rule: Any) -> bool:
    """Whether a rule allows at least what the other one does: the same ports, or all, and the same peers, or more."""
    if known in (rule, {}):
        return True
    if not isinstance(known, dict) or not isinstance(rule, dict):
        return False
    for key in ("from", "to", "ports"):
        entries, wider = rule.get(key), known.get(key)
        # An empty list means everything.
        if wider and not (isinstance(entries, list) and entries and all(entry in wider for entry in entries)):
            return False
    return True


def _covers(selector: Any, narrower: Any) -> bool:
    """Whether a selector of pods selects at least those of another one, for certain."""
    return not selector or selector == narrower


def _in_direction(manifest: Manifest | None, direction: str) -> _Policy | None:
    """Source: kubernetes.io, NetworkPolicySpec: without policyTypes it is for ingress, and for egress if it has rules for that."""
    spec = mapping_at(manifest, "spec")
    types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    if not manifest or direction not in types:
        return None
    rules = spec.get(direction.lower())
    return _Policy(spec.get("podSelector") or {}, rules if isinstance(rules, list) else [])
