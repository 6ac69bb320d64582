"""Whether a wave has arrived on its clusters, according to Flux: from the change to the moment when it is good, or has failed.

Nothing here reads a cluster or a clock: both are given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from tenantry.cluster.control import REQUESTED
from tenantry.cluster.failures import Failures, is_cut_off
from tenantry.cluster.standing import (
    Live,
    Needs,
    Standing,
    inputs_of,
    is_of,
    names_of,
    needs_of,
    problems_of_sources,
    revision_of_source,
    said_of,
    state_of,
    waits_for,
)
from tenantry.cluster.status import Readiness, is_stalled, one_line
from tenantry.kube.objects import Manifest, ObjectId, Owner
from tenantry.messages.data import mapping_at
from tenantry.messages.text import grouped
from tenantry.plan.engine_order import becomes_ready, is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, Wave


class State(StrEnum):
    GOOD = "good"
    WAITING = "waiting"
    STUCK = "stuck"
    """Flux has given up, and waiting longer changes nothing."""
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Awaited:
    """A Kustomization or HelmRelease that a wave waits for.

    name:    what users call it: `rocky/web`, `platform/dns`, or `the baseline of rocky`.
    owner:   the tenant and the cluster that it is for.
    sources: what it takes its content from, from the first source to the last chart.
    inputs:  the planned ConfigMaps and Secrets that it reads.
    after:   the reconcilers that it depends on, with what users call them.
    """

    id: ObjectId
    owner: Owner
    name: str
    sources: tuple[ObjectId, ...]
    inputs: tuple[ObjectId, ...] = ()
    after: Mapping[ObjectId, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """Such as: edge-1 rocky/web"""
        return f"{self.owner.cluster} {self.name}"

    @property
    def needs(self) -> Needs:
        return Needs(self.sources, self.after)


@dataclass(frozen=True, slots=True)
class Judged:
    """What has become of one reconciler. reason: why it is not good. request: what `requestedAt` has to be set to."""

    awaited: Awaited
    state: State
    reason: str = ""
    request: str = ""


def awaited_in(plan: Plan, ids: Iterable[ObjectId]) -> list[Awaited]:
    """The reconcilers among some objects of a plan. One that is suspended or leaves need not become Ready."""
    names, needs, wanted = names_of(plan), needs_of(plan), frozenset(ids)
    planned = {each.id: each for each in plan.objects}
    return [
        Awaited(
            each.id,
            each.owner,
            names[each.id],
            needs[each.id].sources,
            tuple(id for id in inputs_of(each) if id in planned),
            needs[each.id].after,
        )
        for each in plan.objects
        if each.id in wanted and is_reconciled(each.id) and becomes_ready(each.manifest)
    ]


def judge(awaited: Awaited, live: Live, lasting: Collection[ObjectId] = ()) -> Judged:
    """Whether Flux has applied what is on the management cluster now: this generation, from this revision, with these inputs.

    lasting: reconcilers and sources of which several readings have shown that they fail again and again.
    """
    found = live.get(awaited.id)
    if found is None:
        return Judged(awaited, State.WAITING, "not on the management cluster")
    if mapping_at(found, "spec").get("suspend"):
        return Judged(awaited, State.LEFT_OUT, "suspended by hand")
    for problem in problems_of_sources(awaited.sources, live):
        return Judged(awaited, _state(problem, live, lasting), problem.message)
    token = token_of(awaited, live)
    status = mapping_at(found, "status")
    if token and status.get("lastHandledReconcileAt") != token:
        asked = mapping_at(mapping_at(found, "metadata"), "annotations").get(REQUESTED) == token
        return Judged(awaited, State.WAITING, "Flux has not read its configs again yet", "" if asked else token)
    return _reconciler(awaited, found, live, lasting)


def _state(problem: Standing, live: Live, lasting: Collection[ObjectId]) -> State:
    if problem.readiness is Readiness.SUSPENDED:
        return State.LEFT_OUT
    found = live.get(problem.cause)
    return State.STUCK if problem.cause in lasting or (found is not None and is_stalled(found)) else State.WAITING


def token_of(awaited: Awaited, live: Live) -> str:
    """Tells the present inputs of a reconciler from those before; "" if it has none. It contains nothing that is in them."""
    if not awaited.inputs:
        return ""
    versions = []
    for id in awaited.inputs:
        metadata = mapping_at(live.get(id) or {}, "metadata")
        versions.append(f"{id} {metadata.get('uid')} {metadata.get('resourceVersion')}")
    return f"tenantry-{sha256(chr(10).join(versions).encode()).hexdigest()[:16]}"


def _reconciler(awaited: Awaited, found: Manifest, live: Live, lasting: Collection[ObjectId]) -> Judged:
    revision = revision_of_source(awaited.needs, live)
    tried = is_of(revision, found)
    if state_of(found) is Readiness.READY:
        if tried:
            return Judged(awaited, State.GOOD)
        return Judged(awaited, State.WAITING, f"Flux has not applied {one_line(revision)} yet")
    if awaited.id in lasting:
        return Judged(awaited, State.STUCK, said_of(found))
    for waits in waits_for(found, awaited.needs, live):
        return Judged(awaited, State.STUCK if waits.cause in lasting else State.WAITING, one_line(waits.message))
    # What Flux gave up may have been the revision before.
    attempted = mapping_at(found, "status").get("lastAttemptedRevision")
    given_up = is_stalled(found) and (tried or (found["kind"] == "Kustomization" and attempted == revision))
    return Judged(awaited, State.STUCK if given_up else State.WAITING, said_of(found))


class Request(NamedTuple):
    """A value of `requestedAt` that makes Flux read what an object refers to again."""

    id: ObjectId
    token: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one reading showed, by cluster, or by tenant if the rollout is by tenants. Each reason stands for one reconciler that
    is not good.

    waiting: those that still have time. failed: those that have not. left_out: what was suspended by hand. unreachable: those that
    Flux does not reach. absent: of these, those that it did not reach before their change either, so nobody waits for them.
    """

    good: frozenset[str]
    waiting: Mapping[str, list[Judged]]
    failed: Mapping[str, list[Judged]]
    left_out: tuple[Judged, ...]
    requests: tuple[Request, ...]
    unreachable: Mapping[str, list[Judged]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()


@dataclass(slots=True)
class Watch:
    """One wave. The time of a unit, a cluster or a tenant, begins when the changes for it have been made; one that was good once
    stays so.

    awaited: by unit; what is of others is waited for by nobody. stayed: what was not changed, with the reasons. touched: what the
    run changes.
    """

    rollout: Rollout
    wave: Wave
    awaited: Mapping[str, list[Awaited]]
    clock: Callable[[], float]
    stayed: Mapping[ObjectId, str] = field(default_factory=dict)
    touched: Collection[ObjectId] = frozenset()
    knows_before: bool = False
    _absent: frozenset[str] = frozenset()
    _cut_off: dict[str, float] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)
    _good: set[str] = field(default_factory=set)
    _left_out: list[Judged] = field(default_factory=list)
    _failures: Failures = field(init=False)

    def __post_init__(self) -> None:
        self._failures = Failures(self.clock)

    def before(self, live: Live) -> None:
        """What has been read before the wave begins: nobody waits for clusters that Flux does not reach already.

        A wave of which it reaches none proves nothing, so that one waits all the same.
        """
        absent = {
            unit
            for unit, own in self.awaited.items()
            if any(is_cut_off(live.get(each.id, {})) for each in own)
            and not any(each.id in live and state_of(live[each.id]) is Readiness.READY for each in own)
        }
        self.knows_before = True
        if self.awaited.keys() - absent:
            self._absent = frozenset(absent)

    def changed(self, units: Iterable[str]) -> None:
        """The changes for these units have been made; those without a reconciler are good at once."""
        for unit in units:
            if unit in self.awaited:
                self._since.setdefault(unit, self.clock())
            else:
                self._good.add(unit)

    @property
    def unseen(self) -> list[Awaited]:
        """What has to be read to go on."""
        return [each for unit in self._since if unit not in self._good for each in self.awaited[unit]]

    def look(self, live: Live) -> Seen:
        """Judge what has been read after the last call of `changed`, which is at least what was unseen."""
        waiting: dict[str, list[Judged]] = {}
        failed: dict[str, list[Judged]] = {}
        unreachable: dict[str, list[Judged]] = {}
        left_out: list[Judged] = []
        requests: list[Request] = []
        self._failures.look(((each.id, each.needs) for each in self.unseen), live)
        for unit, since in self._since.items():
            if unit in self._good:
                continue
            judged = [self._judge(each, live) for each in self.awaited[unit]]
            passed_over = [each for each in judged if each.state is State.LEFT_OUT]
            bad = [each for each in judged if each.state not in (State.GOOD, State.LEFT_OUT)]
            if not bad:
                self._good.add(unit)
                self._left_out += passed_over
                continue
            left_out += passed_over
            requests += (Request(each.awaited.id, each.request) for each in bad if each.request)
            late = self.clock() - since >= self.rollout.timeout
            if unit in self._absent:
                unreachable[unit] = bad
            elif self._is_cut_off(judged, live):
                begun = self._cut_off.setdefault(unit, self.clock())
                gone = late or self.clock() - begun >= self.rollout.unreachable_after
                (unreachable if gone else waiting)[unit] = bad
            else:
                self._cut_off.pop(unit, None)
                stuck = any(each.state is State.STUCK for each in bad)
                (failed if late or stuck else waiting)[unit] = bad
        absent = self._absent & unreachable.keys()
        every = (*self._left_out, *left_out)
        return Seen(frozenset(self._good), waiting, failed, every, tuple(requests), unreachable, absent)

    def _is_cut_off(self, judged: Iterable[Judged], live: Live) -> bool:
        """Whether Flux reaches no cluster on which something of a unit is not good: all that the run changes there is not good, and
        something of it for want of a connection.
        """
        asked = (each for each in judged if each.state is not State.LEFT_OUT)
        for own in grouped(asked, lambda each: each.awaited.owner.cluster).values():
            bad = [each for each in own if each.state is not State.GOOD]
            changed = [each for each in own if self._is_touched(each.awaited)]
            if not bad:
                continue
            if any(each.state is State.GOOD for each in changed):
                return False
            if not any(is_cut_off(live.get(each.awaited.id, {})) for each in bad):
                return False
        return True

    def _is_touched(self, awaited: Awaited) -> bool:
        return any(id in self.touched for id in (awaited.id, *awaited.sources, *awaited.inputs))

    def _judge(self, awaited: Awaited, live: Live) -> Judged:
        if reason := self.stayed.get(awaited.id):
            return Judged(awaited, State.STUCK, reason)
        return judge(awaited, live, self._failures.lasting)

    def has_failed(self, seen: Seen) -> bool:
        """Whether more has gone wrong than is tolerated. Those that were absent before count for nobody."""
        tolerate = self.wave.tolerate
        return len(seen.failed) > tolerate.failed or len(seen.unreachable.keys() - seen.absent) > tolerate.unreachable
