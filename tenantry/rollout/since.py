"""Since when a Kustomization, a HelmRelease or a source is ready, or is not, from what Flux and the API server have recorded."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at, value_at
from tenantry.rollout.flux_status import (
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
from tenantry.rollout.readiness import Live, Reconciler, fetched_revision, is_of


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
    found = live.get(reconciler.id)
    if found is None:
        return UNKNOWN
    if state_of(found) not in (Readiness.READY, Readiness.SUSPENDED) or not is_of(
        fetched_revision(reconciler, live), found
    ):
        chain = [live[id] for id in (reconciler.id, *reconciler.sources) if id in live]
        fetched = (moment(value_at(manifest, ("status", "artifact", "lastUpdateTime"))) for manifest in chain)
        return unready_since(found, latest(*map(changed_at, chain), *fetched))
    changed = latest(
        *(changed_at(live[id]) for id in (reconciler.id, *reconciler.sources, *reconciler.inputs) if id in live)
    )
    last, *others = history_of(found) or [{}]
    first = moment(last.get("firstReconciled" if found["kind"] == "Kustomization" else "lastDeployed"))
    first = first or moment(ready_of(found).get("lastTransitionTime"))
    before = latest(*(moment(entry.get("lastReconciled")) for entry in others))
    exact = latest(first, changed)
    if before and (exact is None or before > exact):
        return Since(_written(before), at_most=True)
    return Since(_written(exact))


def unready_since(found: Manifest, changed: datetime | None = None) -> Since:
    """Since when an object that is not ready has not been. The condition Ready does not tell this: Flux changes it at each retry.

    changed: when its content changed last; what was ready before is not with that.
    """
    status, ready = mapping_at(found, "status"), ready_of(found)
    created = moment(mapping_at(found, "metadata").get("creationTimestamp"))
    transition = moment(ready.get("lastTransitionTime"))
    if found.get("kind") != "Kustomization":
        bad = [entry for entry in (ready, condition(status, "Released")) if entry and entry.get("status") != "True"]
        bad += [entry for entry in (condition(status, name) for name in _FAILURES) if entry.get("status") == "True"]
        times = [time for entry in bad if (time := moment(entry.get("lastTransitionTime")))]
        return Since(_written(min(times, default=transition or created)))
    entries = history_of(found)
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
