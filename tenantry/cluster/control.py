"""Reconciles, suspends and resumes apps on the management cluster, as the flux command does, and waits for Flux."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tenantry.cluster import requests
from tenantry.cluster.inventory import apps_of, namespaces_of
from tenantry.cluster.status import Readiness, condition, readiness
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, ENVIRONMENT_LABEL, MANAGED_BY, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_IDENTITY = (*MANAGED_BY, ENVIRONMENT_LABEL, TENANT_LABEL, CLUSTER_LABEL, APP_LABEL)
"""The labels that say whose an object is."""


@dataclass(frozen=True, slots=True)
class Target:
    """A planned app, and its live object. paused: whether the file itself suspends it."""

    app: PlannedApp
    planned: Manifest
    live: Manifest
    paused: bool


def targets(client: Client, plan: Plan, apps: Iterable[PlannedApp]) -> tuple[list[Target], list[Refused]]:
    """The targets among some apps of a plan, and a reason for each app that is none: its object is missing or somebody else's.

    Raises: Refused: Flux is not installed on the cluster, or reading is not allowed.
    """
    apps = list(apps)
    planned = {each.id: each.manifest for each in plan.objects}
    places = Places(namespaces_of(client))
    live = {readable_id(each): each for each in apps_of(client, plan.environment, _selector(apps))}
    found, refused = [], []
    for app in apps:
        manifest = live.get(app.id)
        if manifest is None or not is_own(planned[app.id], manifest):
            refused.append(_no_target(client, plan, app.id))
        elif not places.puts(manifest, whose(manifest)):
            refused.append(_misplaced(plan, app.id))
        else:
            paused = planned[app.id].get("spec", {}).get("suspend") is True
            found.append(Target(app, planned[app.id], manifest, paused))
    return found, refused


def own_object(client: Client, planned: Manifest) -> Manifest | None:
    """The live object of a planned one; None if it does not exist or is somebody else's. Raises: as `requests.one`."""
    live = requests.one(client, object_id(planned))
    return live if live is not None and is_own(planned, live) else None


def is_own(planned: Manifest, live: Manifest) -> bool:
    """Whether the labels of a live object say that it is the planned one."""
    wanted: Mapping[str, object] = labels_of(planned)
    return all(labels_of(live).get(key) == wanted.get(key) for key in _IDENTITY)


def _selector(apps: list[PlannedApp]) -> str:
    """Narrows the list to the tenant and the app, if there is only one of them."""
    tenants, names = {app.tenant for app in apps}, {each.name for each in apps}
    parts = []
    if len(tenants) == 1:
        (tenant,) = tenants
        parts.append(f"{TENANT_LABEL}={tenant}" if tenant else f"!{TENANT_LABEL}")
    if len(names) == 1:
        parts.append(f"{APP_LABEL}={next(iter(names))}")
    return ",".join(parts)


def _no_target(client: Client, plan: Plan, id: ObjectId) -> Refused:
    if requests.one(client, id) is None:
        return Refused(f"{id} is not on the management cluster", "run `tenantry up`")
    environment = plan.environment
    return Refused(
        f"{id} exists, but its labels do not say that it belongs to environment '{environment}'",
        f"run `tenantry preflight --environment {environment}` to see whose it is",
    )


def _misplaced(plan: Plan, id: ObjectId) -> Refused:
    return Refused(
        f"{id} exists, but namespace '{id.namespace}' is not the place of such an object, so its labels are not believed",
        f"run `tenantry preflight --environment {plan.environment}` to see whose it is",
    )


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


_PAUSE = 0.5
_REST = 3
"""For each second that a reading took, the API server rests for so many."""


def is_handled(manifest: Manifest, token: str) -> bool:
    """Whether Flux has reconciled an object since the request with this token, and knows how that went."""
    status = mapping_at(manifest, "status")
    if mapping_at(manifest, "spec").get("type") == "oci" and manifest.get("kind") == "HelmRepository":
        return True  # Flux does not reconcile these: it reads them when it fetches a chart
    if status.get("lastHandledReconcileAt") != token:
        return False
    return readiness(manifest, condition(status, "Ready")) is not Readiness.PROGRESSING


def wait_until_handled(
    read: Callable[[], Iterable[Manifest]], wanted: Iterable[ObjectId], token: str, timeout: float
) -> Mapping[ObjectId, Manifest]:
    """Read until all wanted objects are handled, or until the timeout in seconds. Returns those that are."""
    wanted, end = frozenset(wanted), time.monotonic() + timeout
    while True:
        started = time.monotonic()
        live = {id: each for each in read() if (id := readable_id(each)) in wanted}
        done = {id: each for id, each in live.items() if is_handled(each, token)}
        now = time.monotonic()
        if len(done) == len(wanted) or now > end:
            return done
        time.sleep(max(_PAUSE, _REST * (now - started)))
