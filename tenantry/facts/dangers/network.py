"""Network policies that let through more than before.

Policies add up: a pod that none selects in a direction takes everything there, and a pod that some select takes what any of
these allows. So removing a policy opens the network only if no other one selects the same pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tenantry.facts.dangers.danger import ClusterDanger, DangerKind, Rank, of_owner
from tenantry.facts.dangers.pieces import Key, Piece, Pieces
from tenantry.kube.names import join
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at

_POLICY, _GROUP = "NetworkPolicy", "networking.k8s.io"
ISOLATED = join("tenantry", "isolated")
_DIRECTIONS = {
    "Ingress": ("ingress", "pods accept traffic from anywhere"),
    "Egress": ("egress", "pods may send traffic anywhere"),
}


class _Policy(NamedTuple):
    """One direction of a policy."""

    pods: Any
    rules: Sequence[Any]


def network_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    own = [piece for piece in pieces.all if piece.kept and piece.key.kind.endswith(_POLICY)]
    before, after = (_by_namespace(side) for side in pieces.around(own, _POLICY))
    for piece in own:
        if piece.key.group != _GROUP:
            yield from _unjudged(piece)
            continue
        place = (piece.key.owner, piece.key.namespace)
        for direction, (key, everything) in _DIRECTIONS.items():
            old, new = (_in_direction(side, direction, key) for side in (piece.before, piece.after))
            policies = (
                {
                    name: policy
                    for name, manifest in side.get(place, {}).items()
                    if (policy := _in_direction(manifest, direction, key))
                }
                for side in (before, after)
            )
            yield from _loosened(piece, (old, new), *policies, everything=everything)


def _loosened(
    piece: Piece,
    states: tuple[_Policy | None, _Policy | None],
    before: Mapping[str, _Policy],
    after: Mapping[str, _Policy],
    *,
    everything: str,
) -> Iterator[ClusterDanger]:
    """Args: states: the policy before and after; before, after: all policies of the namespace."""
    old, new = states
    name = f"policy {piece.key.name}"
    bases = f"{_base(piece.before)} -> {_base(piece.after)}"
    covered = any(_covers(policy.pods, old.pods) for policy in after.values()) if old else True
    if not covered:
        why = bases if piece.key.name == ISOLATED else f"without {name}"
        yield _found(piece, f"its network is opened: {why}, {everything}")
    elif old and piece.key.name == ISOLATED:
        # Otherwise it lets in namespaces of the tenant itself, and nobody else.
        if new and bases == "strict -> isolated":
            text = f"its network lets through more: {bases}, pods accept traffic from all namespaces without a tenant"
            yield _found(piece, text)
    elif new and _isolated(before, new.pods) and (more := _more(old, new, before)):
        what = "allows everything" if {} in more else "changes" if old else "is new"
        yield _found(piece, f"its network lets through more: {name} {what}")


def _base(isolation: Manifest | None) -> str:
    """What `network` says where there is this policy."""
    types = mapping_at(dict(isolation or {}), "spec").get("policyTypes") or []
    return "strict" if "Egress" in types else "isolated" if isolation else "open"


def _isolated(before: Mapping[str, _Policy], pods: Any) -> bool:
    """Whether some policy may have selected the pods before. Where none did, a new one only restricts."""
    labels = mapping_at(pods or {}, "matchLabels")
    others = (mapping_at(policy.pods or {}, "matchLabels") for policy in before.values())
    return any(all(labels.get(key, value) == value for key, value in other.items()) for other in others)


def _more(old: _Policy | None, new: _Policy, before: Mapping[str, _Policy]) -> list[Any]:
    """The rules that no policy for at least the same pods had before."""
    known = [rule for policy in before.values() if _covers(policy.pods, new.pods) for rule in policy.rules]
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


def _by_namespace(side: Mapping[Key, Manifest]) -> dict[tuple[Any, str], dict[str, Manifest]]:
    policies: dict[tuple[Any, str], dict[str, Manifest]] = {}
    for key, manifest in side.items():
        if key.group == _GROUP:
            policies.setdefault((key.owner, key.namespace), {})[key.name] = manifest
    return policies


def _in_direction(manifest: Manifest | None, direction: str, key: str) -> _Policy | None:
    """Source: kubernetes.io, NetworkPolicySpec: without policyTypes it is for ingress, and for egress if it has rules for that."""
    spec = mapping_at(dict(manifest or {}), "spec")
    types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    if not manifest or direction not in types:
        return None
    rules = spec.get(key)
    return _Policy(spec.get("podSelector") or {}, rules if isinstance(rules, list) else [])


def _unjudged(piece: Piece) -> Iterator[ClusterDanger]:
    """Policies of other programs, such as Cilium."""
    if piece.before is not None:
        what = "changes" if piece.after else "is removed"
        text = f"its network may let through more: {piece.key.kind} {piece.key.name} {what}, look at it"
        yield _found(piece, text)


def _found(piece: Piece, text: str) -> ClusterDanger:
    return of_owner(DangerKind.NETWORK, Rank.WALLS, piece.key.owner, text)
