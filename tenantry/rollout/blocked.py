"""Which objects of a change may not be applied or removed yet, and why: one pure function, which a run asks again and again.

`Change` says what differs from the plan, `Evidence` how the clusters are. Nothing here reads a cluster or a clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.plan.engine_order import is_reconciled
from tenantry.rollout.asking import Asking
from tenantry.rollout.change import NOTHING, Change, Evidence, Ignoring
from tenantry.rollout.flux_status import moment
from tenantry.rollout.judging import Request
from tenantry.rollout.lines import Place
from tenantry.rollout.readiness import is_cut_off
from tenantry.rollout.reasons import Kind, Reason, worst


class Answer(NamedTuple):
    """What an asking finds.

    blocked: the objects that may not be applied yet, or not be removed. unready: the lines in which the run has applied something
    that is not ready. requests: what Flux has to be asked for, so that it goes on: configs that it has not read again, and an index
    without a new chart.
    """

    blocked: dict[ObjectId, Reason]
    unready: dict[str, Reason]
    requests: list[Request]


def blocked(change: Change, evidence: Evidence, now: datetime, ignoring: Ignoring = NOTHING) -> dict[ObjectId, Reason]:
    """The objects of a change that may not be applied yet, or not be removed, each with the reason."""
    return ask(change, evidence, now, ignoring).blocked


def ask(
    change: Change,
    evidence: Evidence,
    now: datetime,
    ignoring: Ignoring = NOTHING,
    applied: Collection[ObjectId] = (),
) -> Answer:
    """What is blocked, and what of this run is not ready yet. applied: what this run has applied."""
    asking = Asking(change, evidence, now, ignoring, applied)
    reasons = asking.blocked()
    unready = asking.unready(reasons)
    requests = [
        request for request in dict.fromkeys(asking.requests) if request.id not in evidence.asked or not request.once
    ]
    return Answer(reasons | _blocked_removals(asking, reasons), unready, requests)


# --- what is no longer planned leaves the waves in the order in which a change comes ----------------------------------


def _blocked_removals(asking: Asking, reasons: Mapping[ObjectId, Reason]) -> dict[ObjectId, Reason]:
    """reasons: of the planned objects that are blocked."""
    removed = asking.change.removed
    if not removed:
        return {}
    places = {id: asking.lines.place_of(live) for id, live in removed.items()}
    blocked = {id: reason for id, live in removed.items() if (reason := _own(asking, id, live, places[id]))}
    # A reference has no version.
    targets = {target[1:]: live for live in removed.values() if (target := readable_id(live))}
    while True:
        before = len(blocked)
        blocked |= _held(asking, {**reasons, **blocked}, places, targets, blocked)
        blocked |= _waves(asking, places, blocked)
        if len(blocked) == before:
            return blocked


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
    removals: Mapping[ObjectId, Reason],
) -> dict[ObjectId, Reason]:
    """What held objects use as they live now, and what lies beside them: the same tenant on the same cluster."""
    held: dict[ObjectId, Reason] = {}
    beside: dict[tuple[str, str], Reason] = {}
    for id, reason in blocked.items():
        owner = places[id].owner if id in places else asking.change.objects[id].owner
        for cluster in (owner.cluster, "") if owner.tenant else ():
            beside.setdefault((owner.tenant, cluster), reason)
        changed = asking.change.changed.get(id)
        live = asking.change.removed.get(id) or (changed.live if changed else None)
        if live is None:
            continue  # it is left out, and uses nothing
        for used in (*asking.evidence.uses.get(id, ()), *_used_by(live, targets)):
            if used in places and used not in removals:
                held[used] = reason.needed(id)
    for id, place in places.items():
        mine = beside.get((place.owner.tenant, place.owner.cluster))
        if mine and id not in removals and id not in held:
            held[id] = mine
    return held


def _waves(
    asking: Asking, places: Mapping[ObjectId, Place], reasons_now: Mapping[ObjectId, Reason]
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
                blocked.update(dict.fromkeys((id for id in ids if id not in reasons_now), front))
            counting = {places[id].owner.cluster: id for id in ids if places[id].owner.cluster in wave.clusters}
            lost = {places[id].owner.cluster for id in ids if is_cut_off(asking.change.removed[id])}
            if len(lost) <= wave.tolerate.unreachable:
                counting = {cluster: id for cluster, id in counting.items() if cluster not in lost}
            if counting and front is None:
                name, reasons = rollout.name_of(wave), {**reasons_now, **blocked}
                own = worst(reasons[id] for id in ids if id in reasons and places[id].owner.cluster in counting)
                front = own or Reason(Kind.DELETING, f"{name} loses it first", wave=wave.number)
    return blocked


# --- what an object uses as it lives now -----------------------------------------------------------------------------

Target: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""


def _used_by(live: Manifest, removed: Mapping[Target, Manifest]) -> Iterator[ObjectId]:
    """What an object refers to, and what that refers to, as far as it is among removed objects."""
    seen: set[Target] = set()
    rest = [live]
    while rest:
        manifest = rest.pop()
        if (own := readable_id(manifest)) is None:
            continue
        spec = mapping_at(manifest, "spec")
        account = ("ServiceAccount", own.namespace, str(spec.get("serviceAccountName")))
        targets = _references(own.kind, spec, own.namespace)
        for target in (("Namespace", "", own.namespace), account, *targets):
            if target in removed and target not in seen:
                seen.add(target)
                yield object_id(removed[target])
                rest.append(removed[target])


def _references(kind: str, spec: Mapping[str, Any], namespace: str) -> Iterator[Target]:
    """All that the fields of a spec refer to, apart from the values of a chart. A reference without a kind is to a Secret."""
    for key, value in spec.items():
        if key == "values":
            continue
        inside = [value] if isinstance(value, dict) else mappings_in(value)
        default = {"repository": "GitRepository", "dependsOn": kind}.get(key, "Secret")
        if key.endswith(("Ref", "From")) or key in ("repository", "dependsOn"):
            for reference in inside:
                yield (
                    str(reference.get("kind", default)),
                    str(reference.get("namespace") or namespace),
                    str(reference.get("name")),
                )
        else:
            for inner in inside:
                yield from _references(kind, inner, namespace)
