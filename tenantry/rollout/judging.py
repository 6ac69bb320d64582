"""Whether a reconciler runs what is on the management cluster now, and since when: for waves, `after` and `status` alike.

Nothing here reads a cluster or a clock: both are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.text import one_line
from tenantry.rollout.flux_status import (
    REQUESTED,
    SUCCEEDED,
    Readiness,
    changed_at,
    condition,
    history_of,
    latest,
    moment,
    ready_of,
    state_of,
)
from tenantry.rollout.readiness import Live, Reconciler, Standing, fetched_revision, is_of, judge_all


class Judged(NamedTuple):
    """What has become of one reconciler.

    state: failed if waiting longer changes nothing: Flux has given up, has failed twice alike, or the timeout is over; suspended if
    somebody did that by hand to it or its source.
    message: why it is not ready. since: since when it is ready; None: not known. request: what Flux has to be asked for, so that it
    goes on; None: nothing. is_late: whether it has not been ready for longer than the timeout. cause: the object that decides.
    """

    reconciler: Reconciler
    state: Readiness
    message: str = ""
    since: datetime | None = None
    request: Request | None = None
    is_late: bool = False
    cause: ObjectId | None = None


class Request(NamedTuple):
    """A value of `requestedAt` that makes Flux reconcile an object now. once: in a run, also if it changes nothing."""

    id: ObjectId
    token: str
    once: bool = False


def judge_reconcilers(
    reconcilers: Iterable[Reconciler], live: Live, now: datetime, timeout: timedelta
) -> dict[ObjectId, Judged]:
    """Whether Flux has applied this generation, from this revision, with these inputs.

    timeout: for an attempt, from the last change.
    """
    reconcilers = list(reconcilers)
    standings = judge_all(reconcilers, live, now)
    return {
        reconciler.id: _judged(reconciler, standings[reconciler.id], live, now, timeout) for reconciler in reconcilers
    }


def _judged(reconciler: Reconciler, standing: Standing, live: Live, now: datetime, timeout: timedelta) -> Judged:
    reconciled = live.get(reconciler.id)
    if reconciled is None:
        return Judged(reconciler, Readiness.PROGRESSING, "not on the management cluster")
    if standing.readiness is Readiness.SUSPENDED:
        return Judged(reconciler, Readiness.SUSPENDED, "suspended by hand")
    # What keeps newer content from coming counts, also if the reconciler is ready with what was fetched before.
    problem = standing if standing.cause in reconciler.sources else standing.pending
    if problem and problem.readiness is Readiness.SUSPENDED:
        return Judged(reconciler, Readiness.SUSPENDED, one_line(problem.message))
    if problem is None:
        token = token_of(reconciler, live)
        if token and mapping_at(reconciled, "status").get("lastHandledReconcileAt") != token:
            asked = mapping_at(reconciled, "metadata", "annotations").get(REQUESTED) == token
            request = None if asked else Request(reconciler.id, token)
            unread = Judged(
                reconciler, Readiness.PROGRESSING, "Flux has not read its configs again yet", request=request
            )
            changed = latest(*(changed_at(live[id]) for id in reconciler.inputs if id in live))
            return _late(unread, changed, now, timeout)
        if standing.readiness is Readiness.READY:
            return Judged(reconciler, Readiness.READY, since=moment(since_of(reconciler, live).at))
        problem = standing
    state = Readiness.FAILED if problem.lasts else Readiness.PROGRESSING
    if problem.readiness is Readiness.UNREACHABLE:
        state = Readiness.UNREACHABLE
    message = one_line(problem.message).removeprefix("waits for ")
    started = _unready_since(reconciler, problem.cause, live)
    request = None
    if problem.tried_before:
        # Flux waits for its interval, which nobody has to.
        request = Request(reconciler.id, f"tenantry-{problem.tried_before:%Y%m%d%H%M%S}", once=True)
    return _late(Judged(reconciler, state, message, request=request, cause=problem.cause), started, now, timeout)


def _unready_since(reconciler: Reconciler, cause: ObjectId, live: Live) -> datetime | None:
    """When what is not ready began not to be, at the earliest with the last change of the reconciler."""
    chain = [live[id] for id in (reconciler.id, *reconciler.sources, *reconciler.inputs) if id in live]
    source = live.get(cause) if cause in reconciler.sources else None
    since = unready_since(source, changed_at(source)) if source else since_of(reconciler, live)
    return latest(*map(changed_at, chain), moment(since.at))


def _late(judged: Judged, started: datetime | None, now: datetime, timeout: timedelta) -> Judged:
    """What has had the timeout has failed. An unreachable cluster remains one."""
    if started is None or now - started < timeout:
        return judged
    state = Readiness.FAILED if judged.state is Readiness.PROGRESSING else judged.state
    return judged._replace(state=state, is_late=True)


def token_of(reconciler: Reconciler, live: Live) -> str:
    """Tells the present inputs of a reconciler from those before; "" if it has none. It contains nothing that is in them."""
    if not reconciler.inputs:
        return ""
    versions = []
    for id in reconciler.inputs:
        metadata: Mapping[str, object] = mapping_at(live.get(id) or {}, "metadata")
        versions.append(f"{id} {metadata.get('uid')} {metadata.get('resourceVersion')}")
    return f"tenantry-{sha256(chr(10).join(versions).encode()).hexdigest()[:16]}"


def was_ever_ready(manifest: Manifest) -> bool:
    """Whether a Kustomization or HelmRelease has applied something successfully, now or before."""
    status = mapping_at(manifest, "status")
    released = (entry.get("status") in ("deployed", "superseded") for entry in mappings_in(status.get("history")))
    return bool(status.get("lastAppliedRevision")) or any(released)


# --- since when, from what Flux and the API server have recorded ------------------------------------------------------


class Since(NamedTuple):
    """at: RFC 3339; "" if it is not known. at_most: whether it can be later than that: nobody looked in between."""

    at: str = ""
    at_most: bool = False


UNKNOWN = Since()


def since_of(reconciler: Reconciler, live: Live) -> Since:
    """Since when a reconciler is ready with its content, or since when it is not.

    Ready is the latest of: a run's last change of it, its sources, charts and inputs; the first success with what it applies now;
    the end of its last attempt with something else, or that failed.
    """
    manifest = live.get(reconciler.id)
    if manifest is None:
        return UNKNOWN
    if state_of(manifest) not in (Readiness.READY, Readiness.SUSPENDED) or not is_of(
        fetched_revision(reconciler, live), manifest
    ):
        chain = [live[id] for id in (reconciler.id, *reconciler.sources) if id in live]
        fetched = (moment(value_at(manifest, ("status", "artifact", "lastUpdateTime"))) for manifest in chain)
        return unready_since(manifest, latest(*map(changed_at, chain), *fetched))
    changed = latest(
        *(changed_at(live[id]) for id in (reconciler.id, *reconciler.sources, *reconciler.inputs) if id in live)
    )
    last, *others = history_of(manifest) or [{}]
    first = moment(last.get("firstReconciled" if manifest["kind"] == "Kustomization" else "lastDeployed"))
    first = first or moment(ready_of(manifest).get("lastTransitionTime"))
    before = latest(*(moment(entry.get("lastReconciled")) for entry in others))
    exact = latest(first, changed)
    if before and (exact is None or before > exact):
        return Since(_written(before), at_most=True)
    return Since(_written(exact))


def unready_since(manifest: Manifest, changed: datetime | None = None) -> Since:
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
        return Since(_written(min(times, default=transition or created)))
    entries = history_of(manifest)
    succeeded = [entry for entry in entries if entry.get("lastReconciledStatus") == SUCCEEDED]
    good = latest(*(moment(entry.get("lastReconciled")) for entry in succeeded))
    if good is None:
        return Since(_written(created or transition))
    if entries[0] is succeeded[0] and ready.get("status") == "Unknown":
        return Since(_written(transition))  # the first attempt after a success: it may have been ready until now
    first_failure = None if entries[0] is succeeded[0] else moment(entries[0].get("firstReconciled"))
    begun = [time for time in (changed, first_failure) if time and time > good]
    return Since(_written(min(begun))) if begun else Since(_written(good), at_most=True)


_FAILURES = ("FetchFailed", "BuildFailed", "StorageOperationFailed")
"""Conditions of sources and charts that are there from a failure until the next success."""


def _written(time: datetime | None) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}" if time else ""
