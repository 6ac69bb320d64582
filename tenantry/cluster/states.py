"""How each planned object is: what Flux reports of it, and where it differs from the plan; and which of them a command is about. It
reads nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, NamedTuple

from tenantry.cluster.kubectl import resume
from tenantry.guard.claims import Kept
from tenantry.guard.places import label, whose
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.engine_order import becomes_ready
from tenantry.plan.objects.scope import APP_LABEL, SHARD_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.change import Difference
from tenantry.rollout.flux_status import Readiness, changed_at, ready_of, reason_of, revision_of, unready_since, written
from tenantry.rollout.readiness import (
    MISSING,
    Live,
    Reconciler,
    Standing,
    judge_all,
    reconcilers_of,
    since_of,
    source_problems,
)

PAUSED = "paused in the file: set 'state: active' and run `tenantry up` to resume"
"""The message for an app that the file suspends."""


class InWave(NamedTuple):
    """The wave of a rollout in which something changes. name: as in the file, or `wave 2`."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class State:
    """How a planned object is.

    message:   Flux's own message, or what to do; "" for what is ready.
    stands_for: the app; None for all others.
    name:      what users call it besides its kind and name, such as `the baseline of rocky`; "" for most objects.
    revision:  what Flux applied last, "" before the first.
    since:     since when it is ready, or is not (RFC 3339).
    suspended_by_hand: whether the object is suspended although the file does not pause it.
    wave:      in which wave of a rollout it changes; None without one. waits: whether it is blocked, so that a run holds it.
    cause:     the object that decides: itself, a source, or what it waits for. lasts: whether it has failed for good.
    """

    json_keys: ClassVar = (
        *("environment", "id", "tenant", "app", "cluster", "status", "message", "revision", "since"),
        *("suspended_by_hand", "wave", "waits", "lasts"),
    )

    environment: str
    planned: KubeObject
    readiness: Readiness
    message: str = ""
    stands_for: PlannedApp | None = None
    name: str = ""
    revision: str = ""
    since: str | None = None
    suspended_by_hand: bool = False
    wave: InWave | None = None
    waits: bool = False
    cause: ObjectId | None = None
    lasts: bool = False

    @property
    def id(self) -> ObjectId:
        return self.planned.id

    @property
    def status(self) -> Readiness:
        return self.readiness

    @property
    def is_paused(self) -> bool:
        """Whether the file suspends it. Then nothing waits for it to be ready."""
        return self.readiness is Readiness.SUSPENDED and not self.suspended_by_hand

    @property
    def is_as_declared(self) -> bool:
        """Whether it is ready, or paused by the file."""
        return self.readiness is Readiness.READY or self.is_paused

    @property
    def tenant(self) -> str | None:
        """None for an object of the platform."""
        return self.planned.owner.tenant or None

    @property
    def app(self) -> str | None:
        """None for what stands for no app."""
        return self.stands_for.name if self.stands_for else None

    @property
    def cluster(self) -> str | None:
        """The cluster that it is for; None if several share it."""
        return self.planned.owner.cluster or None

    @property
    def where(self) -> str:
        """`rocky/web on edge-1`, `the baseline of rocky on edge-1`, or kind and name."""
        return f"{self.name} on {self.planned.owner.cluster}" if self.name else str(self.id)


def states_of(
    plan: Plan, live: Iterable[Manifest], now: datetime, begun: datetime | None = None
) -> dict[ObjectId, State]:
    """The state of each planned object, in the order of the plan. What Flux does not reconcile is ready.

    live: the environment's Kustomizations, HelmReleases, sources and charts; may hold other objects too. begun: as of `judge`.
    """
    by_id: Live = {id: manifest for manifest in live if (id := readable_id(manifest))}
    reconcilers, apps = reconcilers_of(plan), {app.id: app for app in plan.apps}
    standings = judge_all(reconcilers.values(), by_id, now, begun)
    sources = {id for reconciler in reconcilers.values() for id in reconciler.sources}
    states: dict[ObjectId, State] = {}
    for planned in plan.objects:
        id = planned.id
        if reconciler := reconcilers.get(id):
            state = _of_reconciler(plan, planned, apps.get(id), reconciler, standings[id], by_id)
        elif id in sources:
            state = _of_source(plan, planned, next(source_problems([id], by_id, now, begun), None), by_id.get(id))
        else:
            state = State(plan.environment, planned, Readiness.READY)
        wave = plan.wave_of(id) if plan.rollout else None
        states[id] = replace(state, wave=InWave(wave.number, wave.name)) if wave else state
    return states


def _of_reconciler(
    plan: Plan, planned: KubeObject, app: PlannedApp | None, reconciler: Reconciler, standing: Standing, live: Live
) -> State:
    manifest, readiness, message = live.get(planned.id), standing.readiness, standing.message
    name = reconciler.name if app or planned.owner.tenant else ""
    state = State(plan.environment, planned, readiness, message, app, name, cause=standing.cause)
    if manifest is None:
        return state
    if app is None and not becomes_ready(planned.manifest):
        return State(plan.environment, planned, Readiness.READY, name=name)
    by_hand = readiness is Readiness.SUSPENDED and mapping_at(planned.manifest, "spec").get("suspend") is not True
    if readiness is Readiness.SUSPENDED:
        message = f"suspended by hand, not in the file: {resume(planned.id)}" if by_hand else PAUSED
    elif not ready_of(manifest) and isinstance(shard := labels_of(manifest).get(SHARD_LABEL), str):
        message = f"no controller of shard {shard} has reconciled it yet"
    return replace(
        state,
        message=message,
        revision=revision_of(mapping_at(manifest, "status")),
        since=written(since_of(reconciler, live)) or None,
        suspended_by_hand=by_hand,
        lasts=standing.lasts,
    )


def _of_source(plan: Plan, planned: KubeObject, problem: Standing | None, live: Manifest | None) -> State:
    missing = State(plan.environment, planned, Readiness.MISSING, MISSING, cause=planned.id)
    if live is None:
        return missing
    if problem is None or not becomes_ready(planned.manifest):
        return State(plan.environment, planned, Readiness.READY)
    by_hand = problem.readiness is Readiness.SUSPENDED
    message = f"suspended by hand, not in the file: {resume(planned.id)}" if by_hand else reason_of(live)
    return replace(
        missing,
        readiness=problem.readiness,
        lasts=problem.lasts,
        message=message,
        since=written(unready_since(live, changed_at(live))) or None,
        suspended_by_hand=by_hand,
    )


# --- where they differ from the plan ----------------------------------------------------------------------------------

_STAY = (Readiness.FAILED, Readiness.UNREACHABLE, Readiness.SUSPENDED)
"""What is reported of an object that is not as planned either."""


def compared(plan: Plan, states: Mapping[ObjectId, State], differences: Iterable[Difference]) -> dict[ObjectId, State]:
    """The states of all planned objects of which some differ from the plan. An app differs where its source or chart does."""
    differing = {difference.id: difference for difference in differences}
    reconcilers = reconcilers_of(plan) if differing else {}
    of_object: dict[ObjectId, Difference] = {}
    for id, state in states.items():
        parts = [id]
        if state.stands_for and (reconciler := reconcilers.get(id)):
            # Of Secrets, a plan does not know the values.
            parts += (*(input for input in reconciler.inputs if input.kind != "Secret"), *reconciler.sources)
        if difference := next((differing[part] for part in parts if part in differing), None):
            of_object[id] = difference
    return {id: _compared(plan, state, of_object[id]) if id in of_object else state for id, state in states.items()}


def _compared(plan: Plan, state: State, difference: Difference) -> State:
    """The state of an object that differs, or whose content does."""
    if state.readiness is Readiness.SUSPENDED or (state.stands_for and state.readiness is Readiness.MISSING):
        return state
    readiness, message = _difference(plan, difference, state.id)
    if state.readiness in _STAY:
        return replace(state, message=f"{state.message}; {message}") if state.stands_for else state
    return replace(state, readiness=readiness, message=message)


def _difference(plan: Plan, difference: Difference, id: ObjectId) -> tuple[Readiness, str]:
    """The readiness that a difference makes, and what to do. id: the object that is reported."""
    again, own = f"run `tenantry up --environment {plan.environment}`", id == difference.id
    if difference.live is None:
        missing = MISSING if own else f"{difference.id} is {MISSING}"
        return Readiness.MISSING if own else Readiness.OUTDATED, missing
    fields = str(difference).partition(": ")[2] if own else str(difference)
    if difference.by:
        return Readiness.CHANGED, f"changed by hand: {fields}; {again}"
    return Readiness.OUTDATED, f"not applied yet: {fields}; a run may be under way, otherwise {again}"


@dataclass(frozen=True, slots=True)
class Selection:
    """Empty sets select everything. The tenant "" is the platform, whose apps are add-ons."""

    tenants: frozenset[str] = frozenset()
    apps: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()

    def takes(self, app: PlannedApp) -> bool:
        """Whether an app is selected."""
        return self.names(app.tenant, app.name, app.cluster)

    def takes_labelled(self, manifest: Manifest) -> bool:
        """Whether the labels of an object say that it belongs to what is selected."""
        owner = whose(manifest)
        return self.names(owner.tenant, label(labels_of(manifest), APP_LABEL), owner.cluster)

    def takes_kept(self, kept: Kept) -> bool:
        """Whether a namespace was left by what is selected."""
        return self.names(kept.tenant, "", kept.cluster)

    def names(self, tenant: str, app: str, cluster: str) -> bool:
        """Whether the app of a tenant on a cluster is selected."""
        return (
            (not self.tenants or tenant in self.tenants)
            and (not self.apps or app in self.apps)
            and (not self.clusters or cluster in self.clusters)
        )


def select(
    plan: Plan, tenants: Sequence[str] = (), apps: Sequence[str] = (), clusters: Sequence[str] = ()
) -> Selection:
    """The selection that options name. `platform` is the platform team; an add-on can also be `platform/ADDON`.

    Raises: Refused: the environment has no such tenant, app or cluster; a later option is checked within the earlier ones.
    """
    tenants = ["" if tenant == PLATFORM else tenant for tenant in tenants]
    apps = [app.removeprefix(ADDON_PREFIX) for app in apps]
    selected = plan.apps
    for names, key, lacks in (
        (tenants, "tenant", "no apps of tenant"),
        (apps, "name", "no app"),
        (clusters, "cluster", "no apps on cluster"),
    ):
        existing: set[str] = {getattr(app, key) for app in selected}
        for name in names:
            if name not in existing:
                known = declared("name one of these", name, {known or PLATFORM for known in existing})
                of = f" of {' or '.join(tenant or PLATFORM for tenant in tenants)}" if key == "name" and tenants else ""
                message = f"environment '{plan.environment}' has {lacks} '{name or PLATFORM}'{of}"
                raise Refused(message, known, code=UNKNOWN_NAME)
        selected = tuple(app for app in selected if not names or getattr(app, key) in names)
    return Selection(frozenset(tenants), frozenset(apps), frozenset(clusters))
