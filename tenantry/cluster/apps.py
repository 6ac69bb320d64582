"""Whether the apps of a plan are ready, according to Flux on the management cluster. It reads nothing itself and never writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tenantry.cluster.standing import Live, Needs, Standing, needs_of, standing
from tenantry.cluster.status import MISSING, PAUSED, AppStatus, Readiness, condition, last_good, revision_of, since_of
from tenantry.kube.names import ADDON_PREFIX
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import SHARD_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


def statuses(plan: Plan, live: Iterable[Manifest]) -> tuple[AppStatus, ...]:
    """One status per planned app, in the order of the plan.

    live: the environment's Kustomizations and HelmReleases; with their sources and charts, the reason is the true one.
    """
    found: Live = {id: manifest for manifest in live if (id := readable_id(manifest))}
    paused, needs = paused_by_file(plan), needs_of(plan)
    judged = (_status(app, needs[app.id], found, plan.environment, paused=app.id in paused) for app in plan.apps)
    if not plan.rollouts:
        return tuple(judged)
    members = (plan.wave_of(app.id) for app in plan.apps)
    return tuple(replace(each, wave=member and member[1]) for each, member in zip(judged, members, strict=True))


def paused_by_file(plan: Plan) -> frozenset[ObjectId]:
    """The objects that the plan itself suspends."""
    return frozenset(each.id for each in plan.objects if mapping_at(each.manifest, "spec").get("suspend") is True)


def _status(app: PlannedApp, needs: Needs, live: Live, environment: str, *, paused: bool) -> AppStatus:
    manifest, stands = live.get(app.id), standing(app.id, needs, live)
    if manifest is None:
        return AppStatus(app, Readiness.MISSING, MISSING, "", cause=app.id)
    status, state = mapping_at(manifest, "status"), stands.readiness
    ready, revision = condition(status, "Ready"), revision_of(status)
    attempted = str(status.get("lastAttemptedRevision") or "")
    by_hand = state is Readiness.SUSPENDED and not paused
    good = state in (Readiness.READY, Readiness.SUSPENDED)
    return AppStatus(
        app,
        state,
        _message(app, stands, manifest, environment, by_hand=by_hand),
        revision,
        attempted if attempted != revision else "",
        since_of(manifest, ready) if good else last_good(manifest),
        by_hand,
        cause=stands.cause,
    )


def _message(app: PlannedApp, stands: Standing, manifest: Manifest, environment: str, *, by_hand: bool) -> str:
    if stands.readiness is not Readiness.SUSPENDED:
        has_status = bool(condition(mapping_at(manifest, "status"), "Ready"))
        return stands.message if stands.message or has_status else _unwatched(manifest, environment)
    if not by_hand:
        return PAUSED
    return f"suspended by hand, not in the file: run `tenantry resume {in_command(app)} --environment {environment}`"


def _unwatched(manifest: Manifest, environment: str) -> str:
    """What may be wrong if no controller has told anything of an object."""
    shard = labels_of(manifest).get(SHARD_LABEL)
    if not isinstance(shard, str):
        return ""
    return f"no controller of shard {shard} has reconciled it yet: check with `tenantry preflight -e {environment}`"


def in_command(app: PlannedApp) -> str:
    """How commands name an app: `TENANT APP`, or `platform/ADDON`."""
    return f"{app.tenant} {app.name}" if app.tenant else f"{ADDON_PREFIX}{app.name}"
