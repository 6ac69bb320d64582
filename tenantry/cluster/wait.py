"""Waits until Flux has handled a request to reconcile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from tenantry.cluster.status import Readiness, condition, readiness
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.data import mapping_at

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
