"""Whether the apps of a plan are ready, according to Flux on the management cluster. It never writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from tenantry.kube.names import ADDON_PREFIX
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.redact import without_credentials
from tenantry.messages.text import printable
from tenantry.plan.objects.scope import SHARD_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.waves import Wave


class Readiness(StrEnum):
    READY = "ready"
    PROGRESSING = "progressing"
    FAILED = "failed"
    SUSPENDED = "suspended"
    MISSING = "missing"


MISSING = "not on the management cluster: run `tenantry up`"
"""The message for an object that is planned and not there."""
PAUSED = "paused in the file: set 'state: active' and run `tenantry up` to resume"
"""The message for an app that the file suspends."""

TROUBLE = (
    Readiness.FAILED,
    Readiness.MISSING,
    Readiness.PROGRESSING,
    Readiness.SUSPENDED,
    Readiness.READY,
)
"""What needs attention first."""


@dataclass(frozen=True, slots=True)
class AppStatus:
    """The status of one app on one cluster.

    message:   Flux's own message, or what to do about an app that is missing or suspended.
    revision:  the last applied revision, "" before the first.
    attempted: the revision that Flux tried last, if it is another one; else "".
    since:     when the condition Ready last changed (RFC 3339), "" if unknown.
    by_hand:   whether the object is suspended although the file does not pause it.
    wave:      in which wave of a rollout it changes; None without one.
    """

    app: PlannedApp
    readiness: Readiness
    message: str
    revision: str
    attempted: str = ""
    since: str = ""
    by_hand: bool = False
    wave: Wave | None = None


def statuses(plan: Plan, live: Iterable[Manifest]) -> tuple[AppStatus, ...]:
    """One status per planned app, in the order of the plan; `live` may hold other objects too."""
    found: Mapping[ObjectId | None, Manifest] = {readable_id(manifest): manifest for manifest in live}
    paused = paused_by_file(plan)
    judged = (_status(app, found.get(app.id), plan.environment, paused=app.id in paused) for app in plan.apps)
    if not plan.rollouts:
        return tuple(judged)
    members = (plan.wave_of(app.id) for app in plan.apps)
    return tuple(replace(each, wave=member and member[1]) for each, member in zip(judged, members, strict=True))


def paused_by_file(plan: Plan) -> frozenset[ObjectId]:
    """The objects that the plan itself suspends."""
    return frozenset(each.id for each in plan.objects if mapping_at(each.manifest, "spec").get("suspend") is True)


def by_trouble(found: Iterable[AppStatus]) -> tuple[AppStatus, ...]:
    """The same, with what needs attention first, then by tenant, app and cluster."""
    rank = {each: number for number, each in enumerate(TROUBLE)}
    return tuple(
        sorted(found, key=lambda each: (rank[each.readiness], each.app.tenant, each.app.name, each.app.cluster))
    )


def _status(app: PlannedApp, manifest: Manifest | None, environment: str, *, paused: bool) -> AppStatus:
    if manifest is None:
        return AppStatus(app, Readiness.MISSING, MISSING, "")
    status = mapping_at(manifest, "status")
    ready = condition(status, "Ready")
    state, revision = readiness(manifest, ready), revision_of(status)
    attempted = str(status.get("lastAttemptedRevision") or "")
    by_hand = state is Readiness.SUSPENDED and not paused
    return AppStatus(
        app,
        state,
        _message(app, state, manifest, environment, by_hand=by_hand),
        revision,
        attempted if attempted != revision else "",
        since_of(manifest, ready),
        by_hand,
    )


def _message(app: PlannedApp, state: Readiness, manifest: Manifest, environment: str, *, by_hand: bool) -> str:
    if state is not Readiness.SUSPENDED:
        ready = condition(mapping_at(manifest, "status"), "Ready")
        return message_of(ready) if ready else _unwatched(manifest, environment)
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


def since_of(manifest: Manifest, ready: Mapping[str, Any]) -> str:
    """When Ready last changed; before there is such a condition, when the object was created."""
    found = ready.get("lastTransitionTime") if ready else mapping_at(manifest, "metadata").get("creationTimestamp")
    return found if isinstance(found, str) and moment(found) else ""


def moment(time: str) -> datetime | None:
    """A time as Kubernetes writes it; None if it is malformed."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_SHOWN_FROM = 2
"""As kubectl shows ages: 90 minutes are 90m, and 47 hours are 47h."""


def age(since: str, now: datetime) -> str:
    """How long ago a time was: 5s, 12m, 3h, 40d; "" if it is not known."""
    started = moment(since)
    if started is None:
        return ""
    seconds = max(0, int((now - started).total_seconds()))
    unit, size = next((each for each in _UNITS if seconds >= _SHOWN_FROM * each[1]), _UNITS[-1])
    return f"{seconds // size}{unit}"


def message_of(ready: Mapping[str, Any]) -> str:
    """Flux's own message in a condition. It can quote an address or a setting with a password, which is left out."""
    return without_credentials(str(ready.get("message") or ""))


def ready_message(manifest: Manifest) -> str:
    """Flux's message for an object that is not ready, on one line; "" if it is ready or has no status yet."""
    ready = condition(mapping_at(manifest, "status"), "Ready")
    return one_line(message_of(ready)) if ready.get("status") == "False" else ""


def one_line(message: str) -> str:
    """A message of Flux's for a terminal. It can quote what a tenant wrote, control characters included."""
    return printable(" ".join(message.split()))


def readiness(manifest: Manifest, ready: Mapping[str, Any]) -> Readiness:
    """What an object's spec and status say; ready: its condition of that name."""
    status = mapping_at(manifest, "status")
    if mapping_at(manifest, "spec").get("suspend"):
        return Readiness.SUSPENDED
    observed = status.get("observedGeneration")
    if observed != manifest["metadata"].get("generation") or not ready:
        return Readiness.PROGRESSING
    if ready.get("status") == "True":
        return Readiness.READY
    stalled = condition(status, "Stalled").get("status") == "True"
    waiting = ready.get("reason") in ("Progressing", "DependencyNotReady", "ProgressingWithRetry")
    return Readiness.PROGRESSING if (waiting or ready.get("status") == "Unknown") and not stalled else Readiness.FAILED


def condition(status: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A condition of an object's status by its type; empty if it does not exist."""
    found = status.get("conditions")
    conditions = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return next((each for each in conditions if each.get("type") == name), {})


def digest_of(revision: str) -> str:
    """The digest in the revision of an OCI artifact, such as `v1@sha256:...`. One that is named by its digest has no tag."""
    return revision.rpartition("@")[2]


def revision_of(status: Mapping[str, Any]) -> str:
    """The commit of a Kustomization, the chart version of a HelmRelease."""
    chart = value_at(status, ("history", 0, "chartVersion"), "")
    return str(chart or status.get("lastAppliedRevision") or "")
