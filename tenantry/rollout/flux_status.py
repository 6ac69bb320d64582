"""What the status of one object of Flux says: its state, message, revision and times. It reads nothing itself and never writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.redact import without_credentials
from tenantry.messages.text import one_line
from tenantry.model.durations import seconds_of
from tenantry.plan.objects.scope import FIELD_MANAGER


class Readiness(StrEnum):
    """How an object is; what needs attention first comes first."""

    FAILED = "failed"
    MISSING = "missing"
    CHANGED = "changed"
    """Somebody changed a planned object on the cluster."""
    UNREACHABLE = "unreachable"
    """Flux gets no connection to the cluster."""
    OUTDATED = "outdated"
    """The file says something else since the last run, or a run has not come to it."""
    PROGRESSING = "progressing"
    SUSPENDED = "suspended"
    READY = "ready"


REQUESTED = "reconcile.fluxcd.io/requestedAt"
"""The annotation with which somebody asks Flux to reconcile an object now. Source: fluxcd.io, "Kustomization" and "HelmRelease"."""
SUCCEEDED = "ReconciliationSucceeded"
"""What the history of a Kustomization calls a success."""
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


def condition(status: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A condition of an object's status by its type; empty if it does not exist."""
    conditions = mappings_in(status.get("conditions"))
    return next((condition for condition in conditions if condition.get("type") == name), {})


def ready_of(manifest: Manifest) -> Mapping[str, Any]:
    """The condition Ready; empty if it does not exist."""
    return condition(mapping_at(manifest, "status"), "Ready")


def history_of(manifest: Manifest) -> list[dict[str, Any]]:
    """What an object applied, the latest first."""
    return mappings_in(mapping_at(manifest, "status").get("history"))


def last_of(manifest: Manifest) -> Mapping[str, Any]:
    """What an object applied last, or tried to; empty if there is nothing."""
    return next(iter(history_of(manifest)), {})


# --- the state --------------------------------------------------------------------------------------------------------


def state_of(manifest: Manifest) -> Readiness:
    """What an object's spec and status say.

    Flux raises `status.observedGeneration` when it is done, so Ready counts only with it. It does not raise it for every failure,
    so a failure counts with the condition's own observedGeneration, and remains one while Flux tries the same again. OCI Helm
    repositories are not reconciled: Flux reads them when it fetches a chart.
    """
    ready, status, spec = ready_of(manifest), mapping_at(manifest, "status"), mapping_at(manifest, "spec")
    if spec.get("suspend"):
        return Readiness.SUSPENDED
    if manifest.get("kind") == "HelmRepository" and spec.get("type") == "oci":
        return Readiness.READY
    if not ready:
        return Readiness.PROGRESSING
    if ready.get("status") == "True":
        return Readiness.READY if is_observed(manifest) else Readiness.PROGRESSING
    if is_stalled(manifest):
        return Readiness.FAILED
    if ready.get("status") == "False":
        is_current = ready.get("observedGeneration", status.get("observedGeneration")) == _generation(manifest)
        absent = ready.get("reason") == "ArtifactFailed" and _ABSENT.search(str(ready.get("message")))
        waits = ready.get("reason") in _WAITS or absent
        return Readiness.FAILED if is_current and not waits else Readiness.PROGRESSING
    return Readiness.FAILED if _failed_before(manifest) else Readiness.PROGRESSING


def is_observed(manifest: Manifest) -> bool:
    """Whether Flux is done with what the spec says now."""
    return bool(mapping_at(manifest, "status").get("observedGeneration") == _generation(manifest))


def is_stalled(manifest: Manifest) -> bool:
    """Whether Flux has given up on what an object's spec says now."""
    stalled = condition(mapping_at(manifest, "status"), "Stalled")
    return stalled.get("status") == "True" and stalled.get("observedGeneration") in (None, _generation(manifest))


def _generation(manifest: Manifest) -> Any:
    return mapping_at(manifest, "metadata").get("generation")


def _failed_before(manifest: Manifest) -> bool:
    """Whether the last attempt at what Flux is trying now has failed."""
    status, last = mapping_at(manifest, "status"), last_of(manifest)
    if manifest.get("kind") == "Kustomization":
        return (
            last.get("lastReconciledStatus") not in (None, SUCCEEDED)
            and value_at(last, ("metadata", "revision")) == status.get("lastAttemptedRevision")
            and _is_of_this_spec(manifest, last)
        )
    released = condition(status, "Released")
    tried = {"chartVersion": "lastAttemptedRevision", "configDigest": "lastAttemptedConfigDigest"}
    return (
        released.get("status") == "False"
        and released.get("observedGeneration") == _generation(manifest)
        and all(last.get(key, status.get(attempted)) == status.get(attempted) for key, attempted in tried.items())
    )


def _is_of_this_spec(manifest: Manifest, last: Mapping[str, Any]) -> bool:
    """Whether an entry of a Kustomization's history, which has no generation, began after the last change of the spec."""
    if _generation(manifest) == 1:
        return True
    fields = mappings_in(mapping_at(manifest, "metadata").get("managedFields"))
    times = [moment(entry.get("time")) for entry in fields if "f:spec" in mapping_at(entry, "fieldsV1")]
    began = began_at(last)
    return began is not None and bool(times) and all(time is not None and time <= began for time in times)


# --- times ------------------------------------------------------------------------------------------------------------

_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_SHOWN_FROM = 2
"""As kubectl shows ages: 90 minutes are 90m, and 47 hours are 47h."""
_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
"""As Go writes a duration of a millisecond or more."""


def moment(time: object) -> datetime | None:
    """A time as Kubernetes writes it; None if there is none, or if it is malformed."""
    try:
        parsed = datetime.fromisoformat(str(time or ""))
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def latest(*times: datetime | None) -> datetime | None:
    """The latest time that is known; None if none is."""
    return max((time for time in times if time), default=None)


def age(since: str | None, now: datetime) -> str:
    """How long ago a time was: 5s, 12m, 3h, 40d; "" if it is not known."""
    started = moment(since)
    if started is None:
        return ""
    seconds = max(0, int((now - started).total_seconds()))
    unit, size = next((unit for unit in _UNITS if seconds >= _SHOWN_FROM * unit[1]), _UNITS[-1])
    return f"{seconds // size}{unit}"


def began_at(entry: Mapping[str, Any]) -> datetime | None:
    """When the last attempt of an entry of a Kustomization's history began; None if it does not say."""
    ended, took = moment(entry.get("lastReconciled")), str(entry.get("lastReconciledDuration"))
    return ended - timedelta(seconds=seconds_of(took)) if ended and _DURATION.fullmatch(took) else None


def is_pulumi(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of `managedFields` is of a run of Pulumi."""
    manager = str(entry.get("manager", ""))
    return manager == FIELD_MANAGER or manager.startswith("pulumi-kubernetes")


def changed_at(manifest: Manifest) -> datetime | None:
    """When a run of Pulumi changed the content of an object last; None if the object does not say."""
    entries = filter(is_pulumi, mappings_in(mapping_at(manifest, "metadata").get("managedFields")))
    contents = (
        entry for entry in entries if mapping_at(entry, "fieldsV1").keys() & {"f:spec", "f:data", "f:binaryData"}
    )
    return latest(*(moment(entry.get("time")) for entry in contents))


def unready_since(manifest: Manifest, changed: datetime | None = None) -> datetime | None:
    """Since when an object that is not ready has not been. The condition Ready does not tell this: Flux changes it at each retry.

    changed: when its content changed last; what was ready before is not with that.
    """
    status, ready = mapping_at(manifest, "status"), ready_of(manifest)
    created = moment(mapping_at(manifest, "metadata").get("creationTimestamp"))
    transition = moment(ready.get("lastTransitionTime"))
    if manifest.get("kind") != "Kustomization":
        bad = [entry for entry in (ready, condition(status, "Released")) if entry and entry.get("status") != "True"]
        bad += [entry for entry in (condition(status, name) for name in _FAILURES) if entry.get("status") == "True"]
        times = [time for entry in bad if (time := moment(entry.get("lastTransitionTime")))]
        return min(times, default=transition or created)
    entries = history_of(manifest)
    succeeded = [entry for entry in entries if entry.get("lastReconciledStatus") == SUCCEEDED]
    good = latest(*(moment(entry.get("lastReconciled")) for entry in succeeded))
    if good is None:
        return created or transition
    if entries[0] is succeeded[0] and ready.get("status") == "Unknown":
        return transition  # the first attempt after a success: it may have been ready until now
    first_failure = None if entries[0] is succeeded[0] else moment(entries[0].get("firstReconciled"))
    begun = [time for time in (changed, first_failure) if time and time > good]
    return min(begun, default=good)


_FAILURES = ("FetchFailed", "BuildFailed", "StorageOperationFailed")
"""Conditions of sources and charts that are there from a failure until the next success."""


def written(time: datetime | None) -> str:
    """A time as Kubernetes writes it; "" for None."""
    return f"{time:%Y-%m-%dT%H:%M:%SZ}" if time else ""


# --- clusters that Flux does not reach --------------------------------------------------------------------------------

_NO_CONNECTION = re.compile(
    r"dial tcp|connection refused|connection reset|i/o timeout|no such host|no route to host|network is unreachable|"
    r"TLS handshake timeout|Client\.Timeout exceeded|client connection lost"
)
_ANSWERED = re.compile(r"webhook|artifact|x509: |Unauthorized|asked for the client to provide credentials")
"""What shows that a cluster answered, or that it was not asked yet, beside what sounds like a lost connection."""


def is_cut_off(manifest: Manifest) -> bool:
    """Whether Flux reports of a reconciler that it did not reach its cluster, which is a remote one."""
    ready = ready_of(manifest)
    if ready.get("status") != "False" or not mapping_at(manifest, "spec").get("kubeConfig"):
        return False
    message = str(ready.get("message"))
    return bool(_NO_CONNECTION.search(message)) and not _ANSWERED.search(message)


# --- messages and revisions -------------------------------------------------------------------------------------------

_NO_PATH = re.compile(r"kustomization path not found: stat \S*/kustomization-[0-9]+/(\S+?): no such file or directory")
_TEMPORARY = re.compile(r"/\S*/kustomization-[0-9]+/")


def flux_text(message: str) -> str:
    """A message of Flux's without credentials, and without names of its temporary directories, which differ at each attempt."""
    text = _NO_PATH.sub(r"path './\1' does not exist in the source", without_credentials(message))
    return _TEMPORARY.sub("./", text).rstrip().removesuffix(":").rstrip()


def message_of(condition: Mapping[str, Any]) -> str:
    """Flux's own message in a condition. It can quote an address or a setting with a password, which is left out."""
    return flux_text(str(condition.get("message") or ""))


def message_about(manifest: Manifest) -> str:
    """Flux's own message about an object, as `message_of`. During a retry, it is about the failure before."""
    status, ready = mapping_at(manifest, "status"), ready_of(manifest)
    if ready.get("status") != "Unknown" or not _failed_before(manifest):
        return message_of(ready)
    if manifest.get("kind") != "Kustomization":
        return message_of(condition(status, "Released"))
    doing = message_of(condition(status, "Reconciling")) or message_of(ready)
    why, timeout = value_at(status, ("history", 0, "lastReconciledStatus")), value_at(manifest, ("spec", "timeout"))
    if why == "HealthCheckFailed" and isinstance(timeout, str):
        return f"what it applied was not ready within {timeout}; Flux tries again"
    return f"the last attempt failed ({why}); Flux tries again: {doing}"


def reason_of(manifest: Manifest) -> str:
    """Flux's reason why an object is not ready, on one line, unless it is about an older generation."""
    ready = ready_of(manifest)
    is_current = ready.get("observedGeneration") in (None, _generation(manifest))
    if not ready or not is_current or ready.get("status") == "True":
        return "Flux has not reconciled the change yet"
    return one_line(message_about(manifest)) or f"Flux says {one_line(str(ready.get('reason')))}"


def digest_of(revision: str) -> str:
    """The digest in the revision of an OCI artifact, such as `v1@sha256:...`. One that is named by its digest has no tag."""
    return revision.rpartition("@")[2]


def revision_of(status: Mapping[str, Any]) -> str:
    """The commit of a Kustomization, the chart version of a HelmRelease."""
    chart = value_at(status, ("history", 0, "chartVersion"), "")
    return str(chart or status.get("lastAppliedRevision") or "")
