"""Reconciles, suspends and resumes apps on the management cluster, as the flux command does.

It writes two things alone: the annotations that ask Flux for a reconciliation, and `spec.suspend`. Its field manager is not the
one of `pulumi up`, which therefore keeps both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tenantry.cluster import requests
from tenantry.cluster.targets import Target
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

FIELD_MANAGER = "tenantry-cli"
REQUESTED = "reconcile.fluxcd.io/requestedAt"
FORCED = "reconcile.fluxcd.io/forceAt"
RESET = "reconcile.fluxcd.io/resetAt"
"""The annotations of `flux reconcile`, of its --force and of its --reset. Source: fluxcd.io, "Kustomization" and "HelmRelease"."""


class Done(StrEnum):
    REQUESTED = "requested"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    READY = "ready"
    NOT_READY = "not ready"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done to the object of an app. message: a revision, or why nothing was done, with a fix on a second line."""

    app: PlannedApp
    done: Done
    message: str = ""


def now_token() -> str:
    """A value for the annotations: the present, as flux writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def request(
    client: Client, targets: Iterable[Target], token: str, *, force: bool, reset: bool, dry_run: bool
) -> list[Outcome]:
    """Ask Flux to reconcile each target now. force, reset: also of HelmReleases; a Kustomization ignores both."""

    def one(target: Target) -> Outcome:
        if mapping_at(target.live, "spec").get("suspend"):
            by_file = "paused in the file" if target.paused else "suspended: resume it first"
            return Outcome(target.app, Done.REFUSED, by_file)
        release = target.app.id.kind == "HelmRelease"
        extra = [key for key, wanted in ((FORCED, force), (RESET, reset)) if wanted and release]
        return _patched(client, target, _annotated(token, *extra), Done.REQUESTED, dry_run=dry_run)

    return requests.in_parallel(one, targets)


def request_source(client: Client, live: Manifest, token: str, *, dry_run: bool) -> None:
    """Ask Flux to fetch a source or chart now. Raises: Refused: it is not allowed, or the object is gone."""
    if requests.patched(client, object_id(live), _annotated(token), manager=FIELD_MANAGER, dry_run=dry_run) is None:
        raise Refused(f"{object_id(live)} is not on the management cluster", "run `tenantry up`")


def suspend(client: Client, targets: Iterable[Target], *, dry_run: bool) -> list[Outcome]:
    """Have Flux stop reconciling each target. What it applied stays."""

    def one(target: Target) -> Outcome:
        if target.live["metadata"].get("deletionTimestamp"):
            return Outcome(
                target.app, Done.REFUSED, "it is being deleted: suspended, it would leave behind what it applied"
            )
        if mapping_at(target.live, "spec").get("suspend"):
            return Outcome(target.app, Done.UNCHANGED, "paused in the file" if target.paused else "already suspended")
        return _patched(client, target, {"spec": {"suspend": True}}, Done.SUSPENDED, dry_run=dry_run)

    return requests.in_parallel(one, targets)


def resume(client: Client, targets: Iterable[Target], *, dry_run: bool) -> list[Outcome]:
    """Have Flux reconcile each target again, unless the file itself suspends it."""

    def one(target: Target) -> Outcome:
        if target.paused:
            return Outcome(
                target.app, Done.REFUSED, "paused in the file: set 'state: active' there and run `tenantry up`"
            )
        if not mapping_at(target.live, "spec").get("suspend"):
            return Outcome(target.app, Done.UNCHANGED, "not suspended")
        return _patched(client, target, {"spec": {"suspend": None}}, Done.RESUMED, dry_run=dry_run)

    return requests.in_parallel(one, targets)


def _annotated(token: str, *more: str) -> dict[str, Any]:
    return {"metadata": {"annotations": dict.fromkeys((REQUESTED, *more), token)}}


def _patched(client: Client, target: Target, content: Mapping[str, Any], done: Done, *, dry_run: bool) -> Outcome:
    """The outcome of a patch. The uid makes the server refuse it if somebody has replaced the object meanwhile."""
    id: ObjectId = target.app.id
    uid = target.live["metadata"].get("uid")
    same = {**({"uid": uid} if uid else {}), **content.get("metadata", {})}
    try:
        answer = requests.patched(client, id, {**content, "metadata": same}, manager=FIELD_MANAGER, dry_run=dry_run)
    except Refused as refused:
        return Outcome(target.app, Done.REFUSED, str(refused))
    return Outcome(target.app, done) if answer is not None else Outcome(target.app, Done.REFUSED, "it was just deleted")
