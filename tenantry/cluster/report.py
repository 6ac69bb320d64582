"""One reading of an environment: how each planned object is, what cannot make progress, and what is undeclared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from tenantry.cluster.drift import compare, confirmed
from tenantry.cluster.inventory import claims_on, flux_kinds_of, namespaces_of
from tenantry.cluster.leftovers import (
    foreign_bindings,
    format_bindings,
    format_kept,
    format_retained,
    format_undeclared,
    leftovers,
    remains,
    rights_by_cluster,
    stuck,
)
from tenantry.cluster.reading import UNLISTED, live_for, not_read
from tenantry.cluster.states import Selection, State, compared, states_of
from tenantry.fleet.fleet import Fleet
from tenantry.guard.claims import Kept
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped
from tenantry.plan.objects.scope import MANAGED_BY
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.blocked import Asking
from tenantry.rollout.change import Difference, Evidence, Lines, change_of, format_until
from tenantry.rollout.flux_status import Readiness, moment
from tenantry.rollout.readiness import reconcilers_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

EVERYTHING = Selection()


class WaveProgress(StrEnum):
    """How far a wave is with what the file says."""

    READY = "ready"
    RUNNING = "running"
    """Something is applied and not ready yet, or is applied by the next run."""
    BLOCKED = "blocked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WaveState:
    """A wave of the rollout. apps: how many apps are how."""

    number: int
    name: str
    clusters: tuple[str, ...]
    apps: Mapping[Readiness, int]
    progress: WaveProgress = WaveProgress.READY


@dataclass(frozen=True, slots=True)
class StatusReport:
    """apps: what needs attention first.

    objects:    the planned objects besides apps that are not as planned, also what needs attention first.
    planned:    how many objects are planned, apps included.
    waves:      those of the rollout; empty without one.
    undeclared: objects of the environment that the file does not declare; None if none was found, and not all were looked for.
    stuck:      a message with a fix for each object that cannot make progress by itself.
    remaining:  undeclared objects that no run removes, because they can hold data. kept: the namespaces that the claims record.
    unread:     why the objects on the cluster could not be compared with the file; "" if they could.
    foreign_rights: a message with a fix for each tenant in whose namespaces somebody else gave rights.
    """

    json_keys: ClassVar = (
        *("environment", "read_at", "ready", "planned", "apps", "objects"),
        *("waves", "undeclared", "stuck", "foreign_rights", "unread"),
    )

    environment: str
    read_at: datetime
    apps: tuple[State, ...]
    objects: tuple[State, ...] = ()
    planned: int = 0
    waves: tuple[WaveState, ...] = ()
    undeclared: tuple[ObjectId, ...] | None = None
    stuck: tuple[str, ...] = ()
    unread: str = ""
    remaining: tuple[ObjectId, ...] = ()
    kept: tuple[Kept, ...] = ()
    foreign_rights: tuple[str, ...] = ()

    @property
    def off(self) -> int:
        """How many apps and other objects are not as planned or not ready. What the file pauses need not be ready."""
        return len(self.objects) + sum(not app.is_as_declared for app in self.apps)

    @property
    def ready(self) -> bool:
        return not self.off

    @property
    def waits(self) -> bool:
        """Whether all that is not as planned or not ready waits for its wave."""
        return all(state.waits for state in (*self.apps, *self.objects) if not state.is_as_declared)

    @property
    def as_planned(self) -> int:
        """How many of the planned objects are there, as planned, and ready or paused."""
        return self.planned - self.off

    def messages(self) -> tuple[str, ...]:
        """What a person has to know besides the apps, each with a fix on a second line."""
        undeclared = format_undeclared(self.environment, self.undeclared or ())
        kept, retained = format_kept(self.environment, self.kept), format_retained(self.remaining, self.kept)
        return tuple(filter(None, (*self.stuck, undeclared, kept, retained, *self.foreign_rights, self.unread)))


def apps_report(
    plan: Plan, live: Iterable[Manifest], selection: Selection = EVERYTHING, begun: datetime | None = None
) -> StatusReport:
    """The apps, baselines, sources and charts, from what `flux_objects_of` has just read. begun: as of `judge`."""
    now = datetime.now(UTC)
    return _report(plan, states_of(plan, live, now, begun), selection, now)


def _report(plan: Plan, states: Mapping[ObjectId, State], selection: Selection, now: datetime) -> StatusReport:
    taken = {
        source
        for id, reconciler in reconcilers_of(plan).items()
        if selection.takes_labelled(states[id].planned.manifest)
        for source in reconciler.sources
    }
    apps = [state for state in states.values() if state.stands_for and selection.takes(state.stands_for)]
    rest = (state for state in states.values() if not state.stands_for)
    # What clusters share is selected with an app that takes it.
    others = [
        state
        for state in rest
        if selection.takes_labelled(state.planned.manifest) or (state.cluster is None and state.id in taken)
    ]
    unready = (state for state in others if state.readiness is not Readiness.READY)
    rank = {readiness: number for number, readiness in enumerate(Readiness)}
    return StatusReport(
        plan.environment,
        now,
        by_trouble(apps),
        tuple(sorted(unready, key=lambda state: (rank[state.readiness], state.id))),
        len(apps) + len(others),
        tuple(_waves(plan, apps, others)),
    )


def by_trouble(states: Iterable[State]) -> tuple[State, ...]:
    """The same apps, with what needs attention first, then by tenant, app and cluster."""
    rank = {readiness: number for number, readiness in enumerate(Readiness)}

    def order(state: State) -> tuple[int, str, str, str]:
        owner, app = state.planned.owner, state.stands_for
        return rank[state.readiness], app.tenant if app else "", app.name if app else "", owner.cluster

    return tuple(sorted(states, key=order))


def _waves(plan: Plan, apps: Sequence[State], others: Sequence[State]) -> Iterator[WaveState]:
    for wave in plan.rollout.waves if plan.rollout else ():
        mine, rest = (
            [state for state in states if state.wave and state.wave.number == wave.number] for states in (apps, others)
        )
        count = Counter(state.readiness for state in mine)
        progress = _progress([*mine, *rest])
        yield WaveState(
            wave.number, wave.name, wave.every, {key: count[key] for key in Readiness if count[key]}, progress
        )


def _progress(states: Sequence[State]) -> WaveProgress:
    readiness = {state.readiness for state in states}
    if Readiness.FAILED in readiness or Readiness.UNREACHABLE in readiness:
        return WaveProgress.FAILED
    if any(state.waits for state in states):
        return WaveProgress.BLOCKED
    running = {Readiness.PROGRESSING, Readiness.MISSING, Readiness.OUTDATED, Readiness.CHANGED}
    return WaveProgress.RUNNING if running & readiness else WaveProgress.READY


def full_report(
    client: Client, fleet: Fleet, plan: Plan, live: Iterable[Manifest], selection: Selection = EVERYTHING
) -> StatusReport:
    """The same for every planned object, and everything else.

    Args:   live: the environment's Kustomizations, HelmReleases, sources and charts, which have just been read.
    Raises: httpx2.RequestError: no answer.
    """
    live, now = tuple(live), datetime.now(UTC)
    states = states_of(plan, live, now)
    stuck_messages = tuple(stuck(filter(selection.takes_labelled, live), _places(client)))
    client.unread, client.unlisted = set(), False
    try:
        of_kind = grouped(live, lambda manifest: (str(manifest["apiVersion"]), str(manifest["kind"])))
        read = {kind: of_kind.get(kind, []) for kind in flux_kinds_of(plan)}
        comparison = compare(client, plan.environment, plan.objects, read=read)
        differences = confirmed(client, comparison.differences)
        claims = claims_on(client, fleet.document.platform.namespace)
        rights = rights_by_cluster(fleet, plan)[plan.management]
        selected = {name: there for name, there in rights.items() if selection.names(there.tenant, "", plan.management)}
        foreign = foreign_bindings(client, selected)
        pending = _pending(client, plan, differences, live, now)
    except Refused as refused:
        unread = f"the objects on the management cluster were not compared with the file: {refused}"
        return replace(_report(plan, states, selection, now), stuck=stuck_messages, unread=unread)
    owned = (manifest for manifest in comparison.unplanned if MANAGED_BY.items() <= labels_of(manifest).items())
    taken = list(filter(selection.takes_labelled, owned))
    undeclared = tuple(leftovers(plan, taken))
    kept = _kept(plan, (entry for claim in claims for entry in claim.kept))
    return replace(
        _report(plan, _held(compared(plan, states, differences), pending, now), selection, now),
        stuck=stuck_messages,
        undeclared=None if client.unlisted and not undeclared else undeclared,
        remaining=tuple(remains(plan, taken)),
        kept=tuple(filter(selection.takes_kept, kept)),
        foreign_rights=tuple(f"{message}\n{fix}" for message, fix in format_bindings(foreign)),
        unread="\n".join(filter(None, (not_read(client), UNLISTED if client.unlisted else ""))),
    )


def _pending(
    client: Client, plan: Plan, differences: Sequence[Difference], live: Iterable[Manifest], now: datetime
) -> Asking | None:
    """What a run would change, and what of that is blocked; None without waves. Of Secrets the plan knows no values."""
    if plan.rollout is None:
        return None
    lines = Lines(plan)
    change = change_of(lines, [difference for difference in differences if difference.id.kind != "Secret"])
    objects = {id: manifest for manifest in live if (id := readable_id(manifest))}
    if change.changed:
        objects = {**live_for(client, change, objects)}
    return Asking(change, Evidence(live=objects), now)


def _held(states: Mapping[ObjectId, State], pending: Asking | None, now: datetime) -> dict[ObjectId, State]:
    """The states, where what the next run holds says why."""
    if pending is None:
        return {**states}
    reconcilers, blocked = pending.lines.reconcilers, pending.blocked

    def held(state: State) -> State:
        parts = (state.id, *(reconcilers[state.id].sources if state.id in reconcilers else ()))
        reason = next((blocked[id] for id in parts if id in blocked), None)
        if reason is None or state.readiness not in (Readiness.OUTDATED, Readiness.MISSING):
            return state
        return replace(state, message=f"not applied yet: {reason.message}{format_until(reason.until, now)}", waits=True)

    return {id: held(state) for id, state in states.items()}


def _kept(plan: Plan, recorded: Iterable[Kept]) -> Iterator[Kept]:
    """The namespaces that an environment has left with their data, and does not plan again."""
    planned = {(placement.cluster, name) for placement in plan.placements for name in placement.namespaces}
    for entry in recorded:
        if entry.environment == plan.environment and (entry.cluster, entry.namespace) not in planned:
            yield entry


def _places(client: Client) -> Places | None:
    """Whose the namespaces are; None if reading them is not allowed."""
    try:
        return Places(namespaces_of(client))
    except Refused:
        return None


# --- what fails -------------------------------------------------------------------------------------------------------

_FAILING = (Readiness.FAILED, Readiness.MISSING, Readiness.CHANGED, Readiness.UNREACHABLE)
_PATIENCE = timedelta(minutes=5)
"""What progresses for longer counts as failing: a quota or a missing volume keeps Flux waiting, and it never says "failed"."""


def failing(report: StatusReport) -> StatusReport:
    """What is failed, missing, changed by hand or unreachable, and what progresses for more than five minutes."""

    def fails(state: State) -> bool:
        since = moment(state.since)
        late = since is not None and report.read_at - since > _PATIENCE
        return state.readiness in _FAILING or (state.readiness is Readiness.PROGRESSING and late)

    apps, objects = tuple(filter(fails, report.apps)), tuple(filter(fails, report.objects))
    return replace(report, apps=apps, objects=objects, planned=0, waves=())


def why_command(app: PlannedApp, environment: str) -> str:
    """The command that tells why an app is not ready."""
    return f"tenantry why {app.full_name} -e {environment} -c {app.cluster}"
