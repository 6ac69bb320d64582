"""How each planned object is: what Flux reports of it, and where it differs from the plan. It reads nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from tenantry.cluster.drift import Difference
from tenantry.cluster.evidence import Contents
from tenantry.cluster.kubectl import resume
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, labels_of, object_id, readable_id
from tenantry.messages.data import mapping_at
from tenantry.plan.engine_order import becomes_ready
from tenantry.plan.objects.scope import SHARD_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness, changed_at, ready_of, reason_of, revision_of, state_of
from tenantry.rollout.readiness import (
    MISSING,
    UNKNOWN,
    Live,
    Reconciler,
    Since,
    Standing,
    judge_all,
    reconcilers_of,
    since_of,
    unready_since,
)
from tenantry.rollout.waves import Wave

PAUSED = "paused in the file: set 'state: active' and run `tenantry up` to resume"
"""The message for an app that the file suspends."""


@dataclass(frozen=True, slots=True)
class State:
    """How a planned object is.

    message:   Flux's own message, or what to do; "" for what is ready.
    app:       the app that the object stands for; None for all others.
    name:      what users call it besides its kind and name, such as `the baseline of rocky`; "" for most objects.
    revision:  what Flux applied last, "" before the first. attempted: what it tried last, if that is another one.
    since:     since when it is ready, or is not.
    by_hand:   whether the object is suspended although the file does not pause it.
    wave:      in which wave of a rollout it changes; None without one. waits: whether it is held until an earlier one has arrived.
    cause:     the object that decides: itself, a source, or what it waits for. lasts: whether it has failed for good.
    behind:    what its cluster lacks, if Flux does not reach that; else "".
    used:      of what clusters share, on how many of them it is used, in words.
    """

    planned: KubeObject
    readiness: Readiness
    message: str = ""
    app: PlannedApp | None = None
    name: str = ""
    revision: str = ""
    attempted: str = ""
    since: Since = UNKNOWN
    by_hand: bool = False
    wave: Wave | None = None
    waits: bool = False
    cause: ObjectId | None = None
    lasts: bool = False
    behind: str = ""
    used: str = ""

    @property
    def id(self) -> ObjectId:
        return self.planned.id

    @property
    def where(self) -> str:
        """`rocky/web on edge-1`, `the baseline of rocky on edge-1`, or kind and name."""
        return f"{self.name} on {self.planned.owner.cluster}" if self.name else str(self.id)


def states_of(plan: Plan, live: Iterable[Manifest], now: datetime) -> dict[ObjectId, State]:
    """The state of each planned object, in the order of the plan. What Flux does not reconcile is ready.

    live: the environment's Kustomizations, HelmReleases, sources and charts; may hold other objects too.
    """
    found: Live = {id: manifest for manifest in live if (id := readable_id(manifest))}
    reconcilers, apps = reconcilers_of(plan), {app.id: app for app in plan.apps}
    standings = judge_all(reconcilers.values(), found, now)
    sources = {id for reconciler in reconcilers.values() for id in reconciler.sources}
    states: dict[ObjectId, State] = {}
    for planned in plan.objects:
        id = planned.id
        if reconciler := reconcilers.get(id):
            state = _of_reconciler(planned, apps.get(id), reconciler, standings[id], found, plan.environment)
        elif id in sources:
            state = _of_source(planned, found.get(id))
        else:
            state = State(planned, Readiness.READY)
        states[id] = replace(state, wave=plan.wave_of(id)) if plan.rollout else state
    return states


def _of_reconciler(
    planned: KubeObject,
    app: PlannedApp | None,
    reconciler: Reconciler,
    standing: Standing,
    live: Live,
    environment: str,
) -> State:
    found, readiness, message = live.get(planned.id), standing.readiness, standing.message
    name = reconciler.name if app or planned.owner.tenant else ""
    if found is None:
        return State(planned, readiness, message, app, name, cause=planned.id)
    if app is None and not becomes_ready(planned.manifest):
        return State(planned, Readiness.READY, name=name)
    status = mapping_at(found, "status")
    by_hand = readiness is Readiness.SUSPENDED and mapping_at(planned.manifest, "spec").get("suspend") is not True
    if readiness is Readiness.SUSPENDED:
        message = f"suspended by hand, not in the file: {resume(planned.id)}" if by_hand else PAUSED
    elif not ready_of(found) and isinstance(shard := labels_of(found).get(SHARD_LABEL), str):
        message = (
            f"no controller of shard {shard} has reconciled it yet: check with `tenantry preflight -e {environment}`"
        )
    revision, attempted = revision_of(status), str(status.get("lastAttemptedRevision") or "")
    return State(
        planned,
        readiness,
        message,
        app,
        name,
        revision,
        attempted if attempted != revision else "",
        since_of(reconciler, live),
        by_hand,
        cause=standing.cause,
        lasts=standing.lasts,
        behind=standing.behind,
    )


def _of_source(planned: KubeObject, found: Manifest | None) -> State:
    if found is None:
        return State(planned, Readiness.MISSING, MISSING, cause=planned.id)
    readiness = state_of(found)
    if readiness is Readiness.READY or not becomes_ready(planned.manifest):
        return State(planned, Readiness.READY)
    by_hand = readiness is Readiness.SUSPENDED
    message = f"suspended by hand, not in the file: {resume(planned.id)}" if by_hand else reason_of(found)
    since = unready_since(found, changed_at(found))
    return State(planned, readiness, message, since=since, by_hand=by_hand, cause=planned.id)


# --- where they differ from the plan ----------------------------------------------------------------------------------

_STAY = (Readiness.FAILED, Readiness.UNREACHABLE, Readiness.SUSPENDED)
"""What is reported of an object that is not as planned either."""


def compared(plan: Plan, states: Mapping[ObjectId, State], differences: Iterable[Difference]) -> dict[ObjectId, State]:
    """The states of all planned objects of which some differ from the plan. An app differs where its source or chart does."""
    differing, contents = {difference.id: difference for difference in differences}, Contents(plan)
    of_object: dict[ObjectId, Difference] = {}
    for id, state in states.items():
        parts = [id, *map(object_id, contents.of(state.app))] if state.app and differing else [id]
        if found := next((differing[part] for part in parts if part in differing), None):
            of_object[id] = found
    apps = [state for state in states.values() if state.app]
    moving = (state for state in apps if state.readiness is not Readiness.READY or state.id in of_object)
    unfinished = min((state.wave.number for state in moving if state.wave), default=0)
    return {
        id: _compared(plan, state, of_object[id], unfinished) if id in of_object else state
        for id, state in states.items()
    }


def _compared(plan: Plan, state: State, difference: Difference, unfinished: int) -> State:
    """The state of an object that differs, or whose content does. unfinished: the first wave that has not arrived; 0: none."""
    held = ""
    # What clusters share is in no wave, so nothing of it waits.
    if plan.rollout and state.wave and plan.wave_of(difference.id) and 0 < unfinished < state.wave.number:
        held = f"waits for {plan.rollout.name_of(state.wave)}: not applied yet"
    if state.readiness is Readiness.SUSPENDED:
        return state
    if state.app and state.readiness is Readiness.MISSING:
        return replace(state, message=held or state.message, waits=bool(held))
    readiness, message = _difference(plan, difference, state.id, held)
    if state.readiness in _STAY:
        return replace(state, message=f"{state.message}; {message}") if state.app else state
    return replace(state, readiness=readiness, message=message, waits=bool(held) and readiness is not Readiness.CHANGED)


def _difference(plan: Plan, difference: Difference, id: ObjectId, held: str) -> tuple[Readiness, str]:
    """The readiness that a difference makes, and what to do. id: the object that is reported."""
    again, own = f"run `tenantry up --environment {plan.environment}`", id == difference.id
    if difference.live is None:
        missing = MISSING if own else f"{difference.id} is {MISSING}"
        return Readiness.MISSING if own else Readiness.OUTDATED, held or missing
    fields = str(difference).partition(": ")[2] if own else str(difference)
    if difference.by:
        return Readiness.CHANGED, f"changed by hand: {fields}; {again}"
    return Readiness.OUTDATED, held or f"not applied yet: {fields}; a run may be under way, otherwise {again}"
