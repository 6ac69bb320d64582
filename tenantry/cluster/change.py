"""What a run would change, by a reading of the management cluster, as `blocked` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.drift import Difference
from tenantry.cluster.reading import read_objects
from tenantry.cluster.requests import FIELD_MANAGER
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.rollout.change import Change, Changed, Lines, wanted_of
from tenantry.rollout.flux_status import REQUESTED
from tenantry.rollout.readiness import Live, Request, was_ever_ready

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def change_of(lines: Lines, differences: Iterable[Difference], removed: Iterable[Manifest] = ()) -> Change:
    """What a run would change. removed: what is no longer planned."""
    changed = {difference.id: Changed(difference.live, difference.fields) for difference in differences}
    return Change(lines, changed, {object_id(manifest): manifest for manifest in removed})


def clusters_ever_ready(lines: Lines, live: Mapping[ObjectId, Manifest]) -> frozenset[str]:
    """The clusters on which anything of the fleet was ever ready."""
    planned = lines.reconcilers
    ready = (id for id in planned if id in live and was_ever_ready(live[id]))
    return frozenset(planned[id].owner.cluster for id in ready)


def live_for(client: Client, change: Change, known: Live | None = None, applied: Iterable[ObjectId] = ()) -> Live:
    """The objects that decide about a change. known: what has just been read. applied: as of `ask`.

    Raises: Refused: reading is not allowed.
    """
    known = known or {}
    missing = wanted_of(change, applied) - known.keys()
    return {**known, **read_objects(client, change.plan.environment, missing, whole=False)}


def reconcile(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that does not arrive is sent again with the next asking.

    Raises: Refused: it is not allowed.
    """

    def send(request: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: request.token}}}
        try:
            requests.patched(client, request.id, annotations, manager=FIELD_MANAGER, dry_run=False)
        except Refused as refused:
            if refused.code != UNREACHABLE:
                raise

    requests.in_parallel(send, asked)
