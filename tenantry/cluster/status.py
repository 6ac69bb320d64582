"""Whether an object is ready, according to Flux on the management cluster. It reads nothing itself and never writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.redact import without_credentials
from tenantry.messages.text import printable
from tenantry.model.durations import seconds_of
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.waves import Wave


class Readiness(StrEnum):
    READY = "ready"
    PROGRESSING = "progressing"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    """Flux gets no connection to the cluster."""
    SUSPENDED = "suspended"
    MISSING = "missing"
    CHANGED = "changed"
    """Somebody changed a planned object on the cluster."""
    OUTDATED = "outdated"
    """The file says something else since the last run, or a run has not come to it."""


REQUESTED = "reconcile.fluxcd.io/requestedAt"
"""The annotation with which somebody asks Flux to reconcile an object now. Source: fluxcd.io, "Kustomization" and "HelmRelease"."""

MISSING = "not on the management cluster: run `tenantry up`"
"""The message for an object that is planned and not there."""
PAUSED = "paused in the file: set 'state: active' and run `tenantry up` to resume"
"""The message for an app that the file suspends."""

TROUBLE = (
    Readiness.FAILED,
    Readiness.MISSING,
    Readiness.CHANGED,
    Readiness.UNREACHABLE,
    Readiness.OUTDATED,
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
    since:     since when it is ready, or since when it is not (RFC 3339); "" if unknown.
    by_hand:   whether the object is suspended although the file does not pause it.
    wave:      in which wave of a rollout it changes; None without one.
    cause:     the object that decides about the app: itself, a source, or what it waits for.
    behind:    what its cluster lacks, if Flux does not reach that; else "".
    """

    app: PlannedApp
    readiness: Readiness
    message: str
    revision: str
    attempted: str = ""
    since: str = ""
    by_hand: bool = False
    wave: Wave | None = None
    cause: ObjectId | None = None
    behind: str = ""


def by_trouble(found: Iterable[AppStatus]) -> tuple[AppStatus, ...]:
    """The same, with what needs attention first, then by tenant, app and cluster."""
    rank = {each: number for number, each in enumerate(TROUBLE)}
    return tuple(
        sorted(found, key=lambda each: (rank[each.readiness], each.app.tenant, each.app.name, each.app.cluster))
    )


def since_of(manifest: Manifest, ready: Mapping[str, Any]) -> str:
    """When Ready last changed; before there is such a condition, when the object was created."""
    found = ready.get("lastTransitionTime") if ready else mapping_at(manifest, "metadata").get("creationTimestamp")
    return found if isinstance(found, str) and moment(found) else ""


def last_good(manifest: Manifest) -> str:
    """Since when an object that is not Ready has not been: when it was Ready last, or was created (RFC 3339); "" if unknown.

    The condition Ready does not tell this: Flux changes it at each retry.
    """
    status = mapping_at(manifest, "status")
    if manifest.get("kind") == "Kustomization":
        good = [each for each in _history(status) if each.get("lastReconciledStatus") == _SUCCEEDED]
        found = good[0].get("lastReconciled") if good else None
        ready = condition(status, "Ready")
        if good and _history(status)[0] is good[0] and ready.get("status") == "Unknown":
            return since_of(manifest, ready)  # the first attempt after a success: it may have been ready until now
        if isinstance(found, str) and moment(found):
            return found
        return since_of(manifest, {}) or since_of(manifest, condition(status, "Ready"))
    released, ready = condition(status, "Released"), condition(status, "Ready")
    bad = [each for each in (ready, released) if each and each.get("status") != "True"]
    bad += [each for each in (condition(status, name) for name in _FAILURES) if each.get("status") == "True"]
    times = [since_of(manifest, each) for each in bad]
    return min(filter(None, times), default=since_of(manifest, ready))


_FAILURES = ("FetchFailed", "BuildFailed", "StorageOperationFailed")
"""Conditions of sources and charts that are there from a failure until the next success."""


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
    return flux_text(str(ready.get("message") or ""))


_NO_PATH = re.compile(r"kustomization path not found: stat \S*/kustomization-[0-9]+/(\S+?): no such file or directory")
_TEMPORARY = re.compile(r"/\S*/kustomization-[0-9]+/")


def flux_text(message: str) -> str:
    """A message of Flux's without credentials, and without names of its temporary directories, which differ at each attempt."""
    told = _NO_PATH.sub(r"path './\1' does not exist in the source", without_credentials(message))
    told = _TEMPORARY.sub("./", told).rstrip()
    return told[:-1].rstrip() if told.endswith(":") else told


def ready_message(manifest: Manifest) -> str:
    """Flux's message for an object that is not ready, on one line; "" if it is ready or has no status yet."""
    ready = condition(mapping_at(manifest, "status"), "Ready")
    return one_line(message_of(ready)) if ready.get("status") == "False" else ""


def message_about(manifest: Manifest) -> str:
    """Flux's own message about an object, as `message_of`. During a retry, it is about the failure before."""
    status = mapping_at(manifest, "status")
    ready = condition(status, "Ready")
    if ready.get("status") != "Unknown" or not _failed_before(manifest):
        return message_of(ready)
    if manifest.get("kind") != "Kustomization":
        return message_of(condition(status, "Released"))
    doing = message_of(condition(status, "Reconciling")) or message_of(ready)
    why, timeout = value_at(status, ("history", 0, "lastReconciledStatus")), value_at(manifest, ("spec", "timeout"))
    if why == "HealthCheckFailed" and isinstance(timeout, str):
        return f"what it applied was not ready within {timeout}; Flux tries again"
    return f"the last attempt failed ({why}); Flux tries again: {doing}"


def one_line(message: str) -> str:
    """A message of Flux's for a terminal. It can quote what a tenant wrote, control characters included."""
    return printable(" ".join(message.split()))


_WAITS = frozenset(
    {
        "Progressing",
        "ProgressingWithRetry",
        "DependencyNotReady",
        "HealthCheckCanceled",
        "SourceNotReady",
        "NoSourceArtifact",
        "SourceUnavailable",
    }
)
"""Reasons of Flux for which an object is not Ready yet, and has not failed."""
_ABSENT = re.compile(r"artifact not found|\.source\.toolkit\.fluxcd\.io \"[^\"]*\" not found")
"""What Flux says under the reason `ArtifactFailed` if a source has not fetched anything yet. Other such failures are real."""


def readiness(manifest: Manifest, ready: Mapping[str, Any]) -> Readiness:
    """What an object's spec and status say; ready: its condition of that name.

    Flux raises `status.observedGeneration` when it is done, so Ready counts only with it. It does not raise it for every failure,
    so a failure counts with the condition's own observedGeneration, and remains one while Flux tries the same again.
    """
    status, generation = mapping_at(manifest, "status"), _generation(manifest)
    if mapping_at(manifest, "spec").get("suspend"):
        return Readiness.SUSPENDED
    if not ready:
        return Readiness.PROGRESSING
    if ready.get("status") == "True":
        return Readiness.READY if status.get("observedGeneration") == generation else Readiness.PROGRESSING
    if is_stalled(manifest):
        return Readiness.FAILED
    if ready.get("status") == "False":
        is_current = ready.get("observedGeneration", status.get("observedGeneration")) == generation
        return Readiness.FAILED if is_current and not _waits(ready) else Readiness.PROGRESSING
    return Readiness.FAILED if _failed_before(manifest) else Readiness.PROGRESSING


def _waits(ready: Mapping[str, Any]) -> bool:
    reason = ready.get("reason")
    return reason in _WAITS or (reason == "ArtifactFailed" and bool(_ABSENT.search(str(ready.get("message")))))


def is_stalled(manifest: Manifest) -> bool:
    """Whether Flux has given up on what an object's spec says now."""
    stalled = condition(mapping_at(manifest, "status"), "Stalled")
    return stalled.get("status") == "True" and stalled.get("observedGeneration") in (None, _generation(manifest))


def _generation(manifest: Manifest) -> Any:
    return mapping_at(manifest, "metadata").get("generation")


def _failed_before(manifest: Manifest) -> bool:
    """Whether the last attempt at what Flux is trying now has failed."""
    status = mapping_at(manifest, "status")
    last = next(iter(_history(status)), {})
    if manifest.get("kind") == "Kustomization":
        return (
            last.get("lastReconciledStatus") not in (None, _SUCCEEDED)
            and value_at(last, ("metadata", "revision")) == status.get("lastAttemptedRevision")
            and _is_of_this_spec(manifest, last)
        )
    released = condition(status, "Released")
    tried = {"chartVersion": "lastAttemptedRevision", "configDigest": "lastAttemptedConfigDigest"}
    return (
        released.get("status") == "False"
        and released.get("observedGeneration") == _generation(manifest)
        and all(last.get(key, status.get(other)) == status.get(other) for key, other in tried.items())
    )


_SUCCEEDED = "ReconciliationSucceeded"
"""What the history of a Kustomization calls a success."""


def _history(status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an object applied, the latest first."""
    return mappings_in(status.get("history"))


def _is_of_this_spec(manifest: Manifest, last: Mapping[str, Any]) -> bool:
    """Whether an entry of a Kustomization's history, which has no generation, began after the last change of the spec."""
    if _generation(manifest) == 1:
        return True
    fields = mapping_at(manifest, "metadata").get("managedFields")
    wrote = [mapping for mapping in mappings_in(fields) if "f:spec" in mapping_at(mapping, "fieldsV1")]
    times = [moment(str(each.get("time"))) for each in wrote]
    ended, took = moment(str(last.get("lastReconciled"))), str(last.get("lastReconciledDuration"))
    if ended is None or not times or not _DURATION.fullmatch(took):
        return False
    began = ended - timedelta(seconds=seconds_of(took))
    return all(time is not None and time <= began for time in times)


_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
"""As Go writes a duration of a millisecond or more."""


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
