"""Which objects that are no longer planned may not be removed yet: they leave the waves in the order in which a change comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.plan.engine_order import is_reconciled
from tenantry.rollout.asking import Asking
from tenantry.rollout.flux_status import moment
from tenantry.rollout.lines import Place
from tenantry.rollout.readiness import is_cut_off
from tenantry.rollout.reasons import Kind, Reason, worst
from tenantry.rollout.uses import by_target, used_by


def blocked_removals(asking: Asking, reasons: Mapping[ObjectId, Reason]) -> dict[ObjectId, Reason]:
    """reasons: of the planned objects that are blocked."""
    removed = asking.change.removed
    if not removed:
        return {}
    places = {id: asking.lines.place_of(manifest) for id, manifest in removed.items()}
    found = {id: reason for id, manifest in removed.items() if (reason := _own(asking, id, manifest, places[id]))}
    targets = by_target(removed.values())
    while True:
        before = len(found)
        found |= _held(asking, {**reasons, **found}, places, targets, found)
        found |= _waves(asking, places, found)
        if len(found) == before:
            return found


def _own(asking: Asking, id: ObjectId, live: Manifest, place: Place) -> Reason | None:
    """What keeps an object itself from being removed in this run."""
    since = moment(mapping_at(live, "metadata").get("deletionTimestamp"))
    if since and asking.now - since >= asking.timeout:
        message = f"{id} is being deleted since {since:%Y-%m-%dT%H:%M:%SZ}, and a finalizer keeps it"
        return Reason(Kind.FAILED, message)
    through = asking.ignoring.through
    if place.wave and through is not None and place.wave > through:
        return Reason(Kind.NOT_REQUESTED, f"waits for a run through wave {place.wave}", wave=place.wave)
    # What is suspended is left to its cluster, as `state: decommissioned` says.
    if is_reconciled(id) and is_cut_off(live) and not mapping_at(live, "spec").get("suspend"):
        message = (
            f"Flux does not reach {place.owner.cluster}, so it cannot clean up there; if the cluster is gone:"
            f" 'state: decommissioned' for '{place.owner.cluster}'"
        )
        return Reason(Kind.FAILED, message)
    return None


def _held(
    asking: Asking,
    blocked: Mapping[ObjectId, Reason],
    places: Mapping[ObjectId, Place],
    targets: Mapping[tuple[str, str, str], Manifest],
    found: Mapping[ObjectId, Reason],
) -> dict[ObjectId, Reason]:
    """What held objects use as they live now, and what lies beside them: the same tenant on the same cluster."""
    held: dict[ObjectId, Reason] = {}
    beside: dict[tuple[str, str], Reason] = {}
    for id, reason in blocked.items():
        owner = places[id].owner if id in places else asking.change.objects[id].owner
        for cluster in (owner.cluster, "") if owner.tenant else ():
            beside.setdefault((owner.tenant, cluster), reason)
        live = _live(asking, id)
        if live is None:
            continue  # it is left out, and uses nothing
        for used in (*asking.evidence.uses.get(id, ()), *used_by(live, targets)):
            if used in places and used not in found:
                held[used] = reason.needed(id)
    for id, place in places.items():
        mine = beside.get((place.owner.tenant, place.owner.cluster))
        if mine and id not in found and id not in held:
            held[id] = mine
    return held


def _live(asking: Asking, id: ObjectId) -> Manifest | None:
    if id in asking.change.removed:
        return asking.change.removed[id]
    changed = asking.change.changed.get(id)
    return changed.live if changed else None


def _waves(
    asking: Asking, places: Mapping[ObjectId, Place], found: Mapping[ObjectId, Reason]
) -> dict[ObjectId, Reason]:
    """What an earlier wave has to lose first."""
    rollout = asking.plan.rollout
    if rollout is None:
        return {}
    blocked: dict[ObjectId, Reason] = {}
    by_line: dict[str, dict[int, list[ObjectId]]] = {}
    for id, place in places.items():
        if place.wave:
            by_line.setdefault(place.subject, {}).setdefault(place.wave, []).append(id)
    for subject, waves in by_line.items():
        front: Reason | None = None
        for wave in rollout.waves:
            ids = waves.get(wave.number, [])
            if front is not None and subject not in asking.ignoring.waves:
                blocked.update(dict.fromkeys((id for id in ids if id not in found), front))
            counting = {places[id].owner.cluster: id for id in ids if places[id].owner.cluster in wave.clusters}
            lost = {places[id].owner.cluster for id in ids if is_cut_off(asking.change.removed[id])}
            if len(lost) <= wave.tolerate.unreachable:
                counting = {cluster: id for cluster, id in counting.items() if cluster not in lost}
            if counting and front is None:
                name = rollout.name_of(wave)
                own = worst(_of({**found, **blocked}, (id for id in ids if places[id].owner.cluster in counting)))
                front = own or Reason(Kind.DELETING, f"{name} loses it first", wave=wave.number)
    return blocked


def _of(found: Mapping[ObjectId, Reason], ids: Iterator[ObjectId]) -> Iterator[Reason]:
    return (found[id] for id in ids if id in found)
