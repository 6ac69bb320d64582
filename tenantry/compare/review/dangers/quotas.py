"""Quotas and limits under which what runs today may no longer start; and those that hold nobody any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.compare.review.dangers.found import Found, Rank
from tenantry.compare.review.dangers.pieces import Piece, Pieces
from tenantry.compare.review.model import DangerKind
from tenantry.kube.objects import Manifest
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at

_LIMITS = {"max": -1, "min": 1, "default": -1, "maxLimitRequestRatio": -1}
"""Keys of a LimitRange, and in which direction a change refuses more."""


def quota_dangers(pieces: Pieces) -> Iterator[Found]:
    for each in pieces.of_kinds("ResourceQuota"):
        if each.kept:
            yield from _quota(each)
    for each in pieces.of_kinds("LimitRange"):
        if each.kept:
            yield from _limits(each)


def _quota(piece: Piece) -> Iterator[Found]:
    old, new = (_hard(each) for each in (piece.before, piece.after))
    tightened = list(_tighter(old, new, -1))
    if tightened and piece.before:
        tail = f": {_in_words(tightened)}"
        yield _found(DangerKind.QUOTA, piece, "the quota of ", ("is lowered",) * 2, tail)
    elif tightened:
        tail = f": {_new_in_words(tightened)}"
        yield _found(DangerKind.QUOTA, piece, "the quota of ", ("is new",) * 2, tail)
    if not new and old:
        yield _found(
            DangerKind.QUOTA, piece, "the quota of ", ("is removed",) * 2, ": nothing limits what its pods use"
        )
    elif gone := [key for key in old if key not in new]:
        yield _found(DangerKind.QUOTA, piece, "the quota of ", ("loses limits",) * 2, f": {', '.join(gone)}")


def _limits(piece: Piece) -> Iterator[Found]:
    found: list[str] = []
    for kind in ("Container", "Pod", "PersistentVolumeClaim"):
        old, new = (_of_type(each, kind) for each in (piece.before, piece.after))
        for key, direction in _LIMITS.items():
            changes = list(_tighter(mapping_at(old, key), mapping_at(new, key), direction))
            in_words = _in_words if piece.before else _new_in_words
            found += [f"{key} {in_words([change])}" for change in changes]
    if found:
        verb = ("are tightened" if piece.before else "are new",) * 2
        yield _found(DangerKind.LIMITS, piece, "the limits of ", verb, f": {', '.join(found)}")
    if piece.after is None:
        tail = ": containers without limits of their own have none"
        yield _found(DangerKind.LIMITS, piece, "the limits of ", ("are removed",) * 2, tail)


def _found(kind: DangerKind, piece: Piece, lead: str, verb: tuple[str, str], tail: str) -> Found:
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


def _new_in_words(changes: list[tuple[str, Any, Any]]) -> str:
    return ", ".join(f"{key} {new}" for key, _, new in changes)


def _in_words(changes: list[tuple[str, Any, Any]]) -> str:
    return ", ".join(f"{key} {old or 'none'} -> {new}" for key, old, new in changes)


def _hard(manifest: Manifest | None) -> dict[str, Any]:
    return mapping_at(dict(manifest or {}), "spec", "hard")


def _of_type(manifest: Manifest | None, kind: str) -> dict[str, Any]:
    limits = mapping_at(dict(manifest or {}), "spec").get("limits")
    entries = limits if isinstance(limits, list) else []
    return next((each for each in entries if isinstance(each, dict) and each.get("type") == kind), {})
