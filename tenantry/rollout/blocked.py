"""Which objects of a change may not be applied or removed yet, and why: one pure function, which a run asks again and again.

`Change` says what differs from the plan, `Evidence` how the clusters are. Nothing here reads a cluster or a clock.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property

from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import counted, grouped
from tenantry.plan.engine_order import is_reconciled, reference_of
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.rollout.change import (
    NOTHING,
    Change,
    Evidence,
    Ignoring,
    Kind,
    Reason,
    Target,
    reconcilers_in,
    used_by,
    worst,
)
from tenantry.rollout.flux_status import Readiness, changed_at, is_cut_off, moment
from tenantry.rollout.readiness import (
    Live,
    Reconciler,
    Request,
    Standing,
    judge_reconcilers,
    source_problems,
    was_ever_ready,
)
from tenantry.rollout.waves import Wave, is_taken

_INDEX_PATIENCE = timedelta(seconds=30)
"""So long after its repository was asked for a new index, a chart may be missing."""


def blocked(change: Change, evidence: Evidence, now: datetime, ignoring: Ignoring = NOTHING) -> dict[ObjectId, Reason]:
    """The objects of a change that may not be applied yet, or not be removed, each with the reason."""
    return Asking(change, evidence, now, ignoring).blocked


class Asking:
    """What is blocked, and what of this run is not ready yet.

    blocked: the objects that may not be applied yet, or not be removed. unready: the lines in which the run has applied something
    that is not ready. requests: what Flux has to be asked for, so that it goes on: configs that it has not read again, and an index
    without a new chart.
    """

    def __init__(
        self,
        change: Change,
        evidence: Evidence,
        now: datetime,
        ignoring: Ignoring = NOTHING,
        applied: Collection[ObjectId] = (),
    ) -> None:
        """applied: what this run has applied."""
        self.change, self.evidence, self.now, self.ignoring = change, evidence, now, ignoring
        self.lines, self.plan = change.lines, change.plan
        self.timeout = timedelta(seconds=self.plan.timeout)
        self.blocked: dict[ObjectId, Reason] = {}
        self.unready: dict[str, Reason] = {}
        self._waves = self.plan.rollout.waves if self.plan.rollout else ()
        self._applied = dict.fromkeys(applied)
        self._requests: dict[Request, None] = {}
        self._fronts: dict[str, Reason] = {}
        """By subject, why its next wave may not begin."""
        self._pending: dict[tuple[str, int], list[ObjectId]] = {}
        """By subject and wave, what changes."""
        self._places = {id: self.lines.place_of(live) for id, live in change.removed.items()}
        self._decide()
        self._decide_removals()
        self.requests = [request for request in self._requests if request.id not in evidence.asked or not request.once]

    @cached_property
    def standings(self) -> Mapping[ObjectId, Standing]:
        reconcilers, asks = reconcilers_in(self.change, self._applied), not self.evidence.is_foreign
        standings = judge_reconcilers(reconcilers, self.evidence.live, self.now, self.timeout, asks=asks)
        for reconciler in reconcilers:
            standing = standings[reconciler.id]
            if standing.readiness is Readiness.FAILED and self._asks_for_index(reconciler.sources, standing.cause):
                standings[reconciler.id] = standing._replace(readiness=Readiness.PROGRESSING, lasts=False)
        return standings

    def _decide(self) -> None:
        """What of the planned objects is blocked, wave by wave, and which lines are not ready."""
        last: dict[str, int] = {}
        for id, changed in self.change.changed.items():
            for subject in self.lines.subjects[id] if not changed.is_state_alone else ():
                number = self._wave_of(id)
                self._pending.setdefault((subject, number), []).append(id)
                last[subject] = max(number, last.get(subject, 0))
        by_wave, applied = grouped(self.change.changed, self._wave_of), grouped(self._applied, self._wave_of)
        self._decide_wave(by_wave.get(0, ()), 0)
        for wave in self._waves:
            self._decide_wave(by_wave.get(wave.number, ()), wave.number)
            for subject, number in last.items():
                is_open = number > wave.number and subject not in self._fronts
                if is_open and (reason := self._problem(subject, wave, soaks=True)):
                    self._fronts[subject] = reason
        for wave in self._waves:
            subjects = (subject for id in applied.get(wave.number, ()) for subject in self.lines.subjects[id])
            for subject in dict.fromkeys(subjects):
                if subject not in self.unready and (reason := self._problem(subject, wave, soaks=False)):
                    self.unready[subject] = reason

    def _wave_of(self, id: ObjectId) -> int:
        wave = self.plan.wave_of(id)
        return wave.number if wave else 0

    def _decide_wave(self, ids: Collection[ObjectId], number: int) -> None:
        """Decide about the changed objects of one wave; 0: those of none."""
        for id in ids:
            candidates = (self._own(id), self._of_line(id, number), self._needed(id))
            if reason := worst(filter(None, candidates)):
                self.blocked[id] = reason
        beside, before = self._beside(ids) if number else {}, -1
        while before < len(self.blocked):
            before = len(self.blocked)
            for id in (id for id in ids if id not in self.blocked):
                shared = next((other for other in beside.get(id, ()) if other in self.blocked), None)
                if reason := self._needed(id) or (self.blocked[shared].needed(shared) if shared else None):
                    self.blocked[id] = reason

    def _beside(self, ids: Iterable[ObjectId]) -> Mapping[ObjectId, Collection[ObjectId]]:
        """By changed object, what it takes of the same tenant, and what takes it, which all go together: an app, what it takes, and
        what takes that.

        What is new is beside nothing: nothing takes it yet but by a change, which depends on it.
        """
        existing = {id for id in ids if self.change.changed[id].live is not None}
        objects, beside = self.lines.objects, defaultdict[ObjectId, list[ObjectId]](list)
        for id in (id for id in ids if id in existing):
            for other in objects[id].depends_on:
                if other in existing and is_taken(other) and objects[other].owner.tenant == objects[id].owner.tenant:
                    beside[id].append(other)
                    beside[other].append(id)
        return beside

    # --- reasons of an object itself ---------------------------------------------------------------------------------

    def _own(self, id: ObjectId) -> Reason | None:
        if message := self.evidence.refused.get(id):
            return Reason(Kind.FAILED, message)
        if id in self.evidence.left_out:
            return Reason(Kind.NOT_REQUESTED, "left out by `--target`, `--exclude` or a transform")
        return self._of_source(id) if is_reconciled(id) else None

    def _of_source(self, id: ObjectId) -> Reason | None:
        """Why an app may not move to another source yet. One that is new loses nothing, and waits for nothing."""
        live, planned = self.change.changed[id].live, self.lines.objects[id]
        if live is None or STATE_LABEL in labels_of(planned.manifest):
            return None
        if _reference_in(live, id.namespace) == reference_of(planned.manifest, id.namespace):
            return None
        sources = self.lines.reconcilers[id].sources
        manifests = (self.lines.objects[source].manifest for source in sources)
        if not sources or any(mapping_at(manifest, "spec").get("suspend") for manifest in manifests):
            return None
        problem = _missing_artifact(sources, self.evidence.live, self.now)
        if problem is None:
            return None
        changed = changed_at(self.evidence.live.get(problem.cause, {}))
        is_late = changed is not None and self.now - changed >= self.timeout
        lasts = problem.lasts or problem.readiness is Readiness.SUSPENDED or is_late
        kind = Kind.FAILED if lasts and not self._asks_for_index(sources, problem.cause) else Kind.PROGRESSING
        return Reason(kind, f"its new source has no artifact: {problem.message}")

    def _asks_for_index(self, chain: tuple[ObjectId, ...], cause: ObjectId) -> bool:
        """Whether a chart is missing from an index that may be older than the chart: its repository is asked once in a run."""
        repository = self.evidence.live.get(chain[0], {}) if chain else {}
        has_index = repository.get("kind") == "HelmRepository" and mapping_at(repository, "spec").get("type") != "oci"
        if cause.kind != "HelmChart" or cause not in chain or not has_index:
            return False
        if asked := self.evidence.asked.get(chain[0]):
            return self.now - asked < _INDEX_PATIENCE
        self._requests[Request(chain[0], f"tenantry-{self.now.timestamp():.0f}", once=True)] = None
        return True

    def _of_line(self, id: ObjectId, number: int) -> Reason | None:
        changed, subjects = self.change.changed[id], self.lines.subjects[id]
        if changed.is_state_alone or id.kind == "Secret":
            return None
        through = self.ignoring.through
        if number and through is not None and number > through:
            message = f"waits for a run without `--through`, or through wave {number}"
            return Reason(Kind.NOT_REQUESTED, message, wave=number)
        # A source that is new harms nobody, and is taken by nobody yet.
        for subject in subjects if is_reconciled(id) or changed.live is not None else ():
            before = self.evidence.before.get(subject) if subject not in self.ignoring.after else None
            if before and (subject, self.lines.objects[id].owner.cluster) not in self._reverted:
                return before
        fronts = (self._fronts.get(subject) for subject in subjects if subject not in self.ignoring.waves)
        return next(filter(None, fronts), None) if number else None

    @cached_property
    def _reverted(self) -> Collection[tuple[str, str]]:
        """The apps and clusters whose content runs ready on a cluster of this environment, as after a revert.

        It runs where the app is as planned with all that it takes.
        """
        running: set[tuple[str, str]] = set()
        contents: dict[tuple[str, str], str] = {}
        for app in (app for app in self.plan.apps if app.full_name in self.evidence.before):
            reconciler, standing = self.lines.reconcilers[app.id], self.standings.get(app.id)
            parts = (app.id, *reconciler.sources, *reconciler.inputs)
            content = _content_of(self.lines.objects[id].manifest for id in parts if id.kind != "Secret")
            contents[app.full_name, app.cluster] = content
            is_ready = standing is not None and standing.readiness is Readiness.READY
            if is_ready and self.change.changed.keys().isdisjoint(parts):
                running.add((app.full_name, content))
        return {(name, cluster) for (name, cluster), content in contents.items() if (name, content) in running}

    def _needed(self, id: ObjectId) -> Reason | None:
        """Why something that an object depends on keeps it back."""
        if self.change.changed[id].is_state_alone:
            return None
        for other in self._dependencies(id):
            if other in self.blocked:
                return self.blocked[other].needed(other)
            if (planned := self.lines.objects.get(other)) and planned.awaited:
                name = self.lines.name_of(other)
                if other in self.change.changed:
                    return Reason(Kind.PROGRESSING, f"waits for {name}", cause=other)
                missing = Standing(Readiness.MISSING, "not on the management cluster", other)
                standing = self.standings.get(other, missing)
                if standing.readiness not in (Readiness.READY, Readiness.SUSPENDED):
                    kind = Kind.FAILED if standing.lasts else Kind.PROGRESSING
                    return Reason(kind, f"waits for {name}: {standing.message}", cause=other)
        return None

    def _dependencies(self, id: ObjectId) -> Iterator[ObjectId]:
        """What an object depends on. One that is new waits for what this run applies also through what is there already, such as a
        namespace made beforehand.
        """
        direct = self.lines.objects[id].depends_on
        yield from direct
        unchanged = [*filter(self._is_unchanged, direct)] if self.change.changed[id].live is None else []
        seen = {*unchanged}
        while unchanged:
            further = {*self.lines.objects[unchanged.pop()].depends_on} - seen
            seen |= further
            unchanged += filter(self._is_unchanged, further)
            yield from (id for id in further if id in self.lines.objects and not self._is_unchanged(id))

    def _is_unchanged(self, id: ObjectId) -> bool:
        return id in self.lines.objects and id not in self.change.changed and id not in self._applied

    # --- waves -------------------------------------------------------------------------------------------------------

    def _problem(self, subject: str, wave: Wave, *, soaks: bool) -> Reason | None:
        """Why a wave does not run the line as planned, ready and for as long as it soaks; None: it does, or has nothing of it."""
        members = self.lines.members.get((subject, wave.number), {})
        pending = self._pending_on(subject, wave)
        # A cluster on which nothing was ever ready does not count, as long as another one does.
        counting = sorted((members.keys() & self._ever_ready) or members)
        name = self._name_of(wave)
        # These block the waves after this one, too; a failure can be tolerated.
        reasons = (reason for cluster in counting for reason in pending.get(cluster, ()))
        held = worst(reason for reason in reasons if reason.kind in (Kind.WAITING, Kind.NOT_REQUESTED))
        if first := worst(pending.get("", ())) or held:
            return first if first.wave else first._replace(message=f"{name}: {first.message}", wave=wave.number)
        states = {cluster: self._on_cluster(members[cluster], pending.get(cluster, ())) for cluster in counting}
        by_state = grouped(states, lambda cluster: states[cluster][0])
        failed, lost = by_state.get(Readiness.FAILED, []), by_state.get(Readiness.UNREACHABLE, [])
        progressing, ready = by_state.get(Readiness.PROGRESSING, []), by_state.get(Readiness.READY, [])
        if len(failed) > wave.tolerate.failed:
            kind, bad = Kind.FAILED, failed
        elif len(lost) > wave.tolerate.unreachable:
            kind, bad = Kind.FAILED if all(states[cluster][2] for cluster in lost) else Kind.PROGRESSING, lost
        elif progressing:
            kind, bad = Kind.PROGRESSING, progressing
        elif counting and not ready:
            kind, bad = Kind.FAILED, [*failed, *lost, *by_state.get(Readiness.SUSPENDED, ())]
            name = f"nothing in {name} runs it ready"
        else:
            times = [self.standings[reconciler.id].since for cluster in ready for reconciler in members[cluster]]
            return self._soak(wave, times) if soaks and wave.soak else None
        rest = f", and {counted(len(bad) - 1, 'more cluster')}" if bad[1:] else ""
        return Reason(kind, f"{name}: {bad[0]}: {states[bad[0]][1]}{rest}", wave=wave.number)

    @cached_property
    def _ever_ready(self) -> set[str]:
        """The clusters on which anything of the fleet was ever ready; of another environment, none is left out."""
        live, reconcilers = self.evidence.live, self.lines.reconcilers
        ready = (id for id in reconcilers if id in live and was_ever_ready(live[id]))
        return set() if self.evidence.is_foreign else {reconcilers[id].owner.cluster for id in ready}

    def _soak(self, wave: Wave, ready_since: Collection[datetime | None]) -> Reason | None:
        name, known = self._name_of(wave), [time for time in ready_since if time]
        if len(known) < len(ready_since):
            message = f"{name} soaks, and Flux does not say since when it is ready"
            return Reason(Kind.WAITING, message, wave=wave.number)
        until = max(known) + timedelta(seconds=wave.soak) if known else self.now
        return Reason(Kind.WAITING, f"{name} soaks", until, wave=wave.number) if until > self.now else None

    def unready_line(self, subject: str) -> Reason | None:
        """Why a wave does not run a line as planned, ready and for as long as it soaks; None: all waves do."""
        problems = (self._problem(subject, wave, soaks=True) for wave in self._waves)
        return next(filter(None, problems), None)

    def _name_of(self, wave: Wave) -> str:
        return self.plan.rollout.name_of(wave) if self.plan.rollout else ""

    def _pending_on(self, subject: str, wave: Wave) -> dict[str, list[Reason]]:
        """Why each cluster of a wave does not hold what the plan says; by cluster, "" for what several share, and for marks of what
        is to be removed: nothing of such a cluster counts, but the mark has to be there.
        """
        pending: dict[str, list[Reason]] = {}
        for id in self._pending.get((subject, wave.number), ()):
            planned = self.lines.objects[id]
            cluster = planned.owner.cluster
            if not cluster or cluster in wave.clusters:
                cluster = "" if STATE_LABEL in labels_of(planned.manifest) else cluster
                free = Reason(Kind.PROGRESSING, f"{self.lines.name_of(id)} is not applied yet", cause=id)
                pending.setdefault(cluster, []).append(self.blocked.get(id, free))
        return pending

    def _on_cluster(self, reconcilers: Iterable[Reconciler], pending: Iterable[Reason]) -> tuple[Readiness, str, bool]:
        """How a line is on one cluster: as the worst of its reconcilers; with a message, and whether that lasts."""
        if reason := worst(pending):
            failed = reason.kind is Kind.FAILED
            return Readiness.FAILED if failed else Readiness.PROGRESSING, reason.message, failed
        bad, order = (Readiness.READY, "", False), [*Readiness]
        for reconciler in reconcilers:
            standing = self.standings[reconciler.id]
            if standing.request:
                self._requests[standing.request] = None
            if order.index(standing.readiness) < order.index(bad[0]):
                bad = standing.readiness, f"{reconciler.name}: {standing.message}", standing.lasts
        return bad

    # --- what is no longer planned leaves the waves in the order in which a change comes ------------------------------

    def _decide_removals(self) -> None:
        # A reference has no version.
        removed = self.change.removed
        targets = {target[1:]: live for live in removed.values() if (target := readable_id(live))}
        self.blocked |= {id: reason for id, live in removed.items() if (reason := self._own_removal(id, live))}
        before = -1
        while removed and before < len(self.blocked):
            before = len(self.blocked)
            self._hold_what_is_used(targets)
            self._hold_for_earlier_waves()

    def _own_removal(self, id: ObjectId, live: Manifest) -> Reason | None:
        """What keeps an object itself from being removed in this run."""
        since, place = moment(mapping_at(live, "metadata").get("deletionTimestamp")), self._places[id]
        if since and self.now - since >= self.timeout:
            message = f"{id} is being deleted since {since:%Y-%m-%dT%H:%M:%SZ}, and a finalizer keeps it"
            return Reason(Kind.FAILED, message)
        through = self.ignoring.through
        if place.wave and through is not None and place.wave > through:
            return Reason(Kind.NOT_REQUESTED, f"waits for a run through wave {place.wave}", wave=place.wave)
        # What is suspended is left to its cluster, as `state: decommissioned` says.
        if is_reconciled(id) and is_cut_off(live) and not mapping_at(live, "spec").get("suspend"):
            cluster = place.owner.cluster
            message = (
                f"Flux does not reach {cluster}, so it cannot clean up there; if the cluster is gone:"
                f" 'state: decommissioned' for '{cluster}'"
            )
            return Reason(Kind.FAILED, message)
        return None

    def _hold_what_is_used(self, targets: Mapping[Target, Manifest]) -> None:
        """What held objects use as they live now, and what lies beside them: the same tenant on the same cluster.

        The state does not know what a killed run has applied, and can be lost, so the references of live objects count too.

        targets: what is to be removed.
        """
        beside: dict[tuple[str, str], Reason] = {}
        for id, reason in [*self.blocked.items()]:
            owner = self._places[id].owner if id in self._places else self.lines.objects[id].owner
            for cluster in (owner.cluster, "") if owner.tenant else ():
                beside.setdefault((owner.tenant, cluster), reason)
            changed = self.change.changed.get(id)
            live = self.change.removed.get(id) or (changed.live if changed else None)
            for used in (*self.evidence.uses(id), *(used_by(live, targets) if live else ())):
                if used in self._places:
                    self.blocked.setdefault(used, reason.needed(id))
        for id, place in self._places.items():
            if mine := beside.get((place.owner.tenant, place.owner.cluster)):
                self.blocked.setdefault(id, mine)

    def _hold_for_earlier_waves(self) -> None:
        """What an earlier wave has to lose first."""
        lines = grouped((id for id, place in self._places.items() if place.wave), lambda id: self._places[id].subject)
        for subject, removed in lines.items() if self._waves else ():
            front: Reason | None = None
            by_wave = grouped(removed, lambda id: self._places[id].wave)
            for wave in self._waves:
                ids = {id: self._places[id].owner.cluster for id in by_wave.get(wave.number, ())}
                if front is not None:
                    for id in ids if subject not in self.ignoring.waves else ():
                        self.blocked.setdefault(id, front)
                    continue
                lost = {cluster for id, cluster in ids.items() if is_cut_off(self.change.removed[id])}
                tolerated = lost if len(lost) <= wave.tolerate.unreachable else set[str]()
                if counting := {*ids.values()} & {*wave.clusters} - tolerated:
                    own = worst(self.blocked[id] for id in ids if id in self.blocked and ids[id] in counting)
                    message = f"{self._name_of(wave)} loses it first"
                    front = own or Reason(Kind.DELETING, message, wave=wave.number)


_NOT_CONTENT = frozenset(
    {
        *("interval", "timeout", "retryInterval", "suspend", "dependsOn"),
        *("kubeConfig", "serviceAccountName", "sourceRef", "chartRef", "targetNamespace", "storageNamespace"),
    }
)
"""Fields of a spec that say when and where Flux applies something, not what."""


def _content_of(manifests: Iterable[Manifest]) -> str:
    """What an app runs, whatever the cluster. manifests: its reconciler, with all that it takes."""
    parts = []
    for manifest in manifests:
        spec = {key: value for key, value in mapping_at(manifest, "spec").items() if key not in _NOT_CONTENT}
        parts.append([manifest["kind"], spec, manifest.get("data")])
    return json.dumps(parts, sort_keys=True)


def _reference_in(live: Manifest, namespace: str) -> tuple[str, str, str] | None:
    """The kind, namespace and name of an object's source, also if others may have written the object."""
    try:
        return reference_of(live, namespace)
    except (KeyError, TypeError, AttributeError):
        return None


def _missing_artifact(chain: tuple[ObjectId, ...], live: Live, now: datetime) -> Standing | None:
    """Why the last of a source and its chart has no artifact of what its spec says now; None: it has one."""
    problems = list(source_problems(chain, live, now))
    absent = [problem for problem in problems if problem.readiness is Readiness.MISSING]
    own = [problem for problem in problems if problem.cause == chain[-1]]
    # A chart that has arrived does not need its source any more.
    if not absent and not own and value_at(live[chain[-1]], ("status", "artifact")):
        return None
    first = next(iter(absent or problems), None)
    return first or Standing(Readiness.PROGRESSING, f"{chain[-1]} has no artifact yet", chain[-1])
