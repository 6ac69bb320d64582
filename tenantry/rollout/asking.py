"""One asking: which planned objects of a change may not be applied yet. Nothing here reads a cluster or a clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property

from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import counted, grouped
from tenantry.plan.after import contents_by
from tenantry.plan.engine_order import is_reconciled, reference_of
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.rollout.change import Change, Evidence, Ignoring, reconcilers_in
from tenantry.rollout.flux_status import Readiness, changed_at
from tenantry.rollout.judging import Judged, Request, judge_reconcilers
from tenantry.rollout.readiness import Live, Reconciler, Standing, source_problems
from tenantry.rollout.reasons import Kind, Reason, worst
from tenantry.rollout.waves import Wave, is_taken

_INDEX_PATIENCE = timedelta(seconds=30)
"""So long after its repository was asked for a new index, a chart may be missing."""


class Asking:
    """One asking. requests: what Flux has to be asked for."""

    def __init__(
        self,
        change: Change,
        evidence: Evidence,
        now: datetime,
        ignoring: Ignoring,
        applied: Collection[ObjectId] = (),
    ) -> None:
        self.change, self.evidence, self.now, self.ignoring = change, evidence, now, ignoring
        self.plan, self.lines = change.plan, change.lines
        self.timeout = timedelta(seconds=self.plan.timeout)
        self.requests: list[Request] = []
        self._fronts: dict[str, Reason] = {}
        """By subject, why its next wave may not begin."""
        self._pending: dict[tuple[str, int], list[ObjectId]] = {}
        self._applied: Collection[ObjectId] = frozenset(applied)

    def wave_of(self, id: ObjectId) -> int:
        wave = self.plan.wave_of(id)
        return wave.number if wave else 0

    def subjects(self, id: ObjectId) -> tuple[str, ...]:
        return self.lines.subjects.get(id, ())

    @cached_property
    def judged(self) -> Mapping[ObjectId, Judged]:
        reconcilers = reconcilers_in(self.change, self._applied)
        result = judge_reconcilers(reconcilers, self.evidence.live, self.now, self.timeout)
        for id, judged in result.items():
            sources, cause = judged.reconciler.sources, judged.cause
            if judged.state is Readiness.FAILED and cause and self._asks_for_index(sources, cause):
                result[id] = judged._replace(state=Readiness.PROGRESSING)
        return result

    def blocked(self) -> dict[ObjectId, Reason]:
        """What of the planned objects is blocked."""
        reasons: dict[ObjectId, Reason] = {}
        by_wave = grouped(self.change.changed, self.wave_of)
        last: dict[str, int] = {}
        for id, changed in self.change.changed.items():
            for subject in self.subjects(id) if not changed.is_state_alone else ():
                number = self.wave_of(id)
                self._pending.setdefault((subject, number), []).append(id)
                last[subject] = max(number, last.get(subject, 0))
        self._wave(by_wave.get(0, ()), 0, reasons)
        for wave in self.plan.rollout.waves if self.plan.rollout else ():
            self._wave(by_wave.get(wave.number, ()), wave.number, reasons)
            for subject, number in last.items():
                is_open = number > wave.number and subject not in self._fronts
                if is_open and (reason := self.problem(subject, wave, reasons, soaks=True)):
                    self._fronts[subject] = reason
        return reasons

    def unready(self, reasons: Mapping[ObjectId, Reason]) -> dict[str, Reason]:
        """The lines in which the run has applied something that is not ready yet. Soaks are not asked for."""
        unready: dict[str, Reason] = {}
        by_wave = grouped(self._applied, self.wave_of)
        for wave in self.plan.rollout.waves if self.plan.rollout else ():
            for subject in dict.fromkeys(
                subject for id in by_wave.get(wave.number, ()) for subject in self.subjects(id)
            ):
                if subject not in unready and (reason := self.problem(subject, wave, reasons, soaks=False)):
                    unready[subject] = reason
        return unready

    def _wave(self, ids: Collection[ObjectId], number: int, reasons: dict[ObjectId, Reason]) -> None:
        """Decide about the changed objects of one wave; 0: those of none."""
        for id in ids:
            candidates = (self._own(id), self._of_line(id, number), self._needed(id, reasons))
            if reason := worst(filter(None, candidates)):
                reasons[id] = reason
        units = _units(ids, self.change) if number else {}
        while ids:
            before = len(reasons)
            by_unit = {units[id]: reasons[id] for id in ids if id in reasons and id in units}
            for id in ids:
                if id not in reasons:
                    reason = self._needed(id, reasons)
                    if reason is None and (shared := by_unit.get(units.get(id, id))):
                        reason = shared.needed(id)
                    if reason:
                        reasons[id] = reason
            if len(reasons) == before:
                return

    # --- reasons of an object itself ---------------------------------------------------------------------------------

    def _own(self, id: ObjectId) -> Reason | None:
        if message := self.evidence.missing.get(id) or self.evidence.refused.get(id):
            return Reason(Kind.FAILED, message)
        if id in self.evidence.left_out:
            return Reason(Kind.NOT_REQUESTED, "left out by `--target`, `--exclude` or a transform")
        return self._of_source(id) if is_reconciled(id) else None

    def _of_source(self, id: ObjectId) -> Reason | None:
        """Why an app may not move to another source yet. One that is new loses nothing, and waits for nothing."""
        live, planned = self.change.changed[id].live, self.change.objects[id]
        if live is None or STATE_LABEL in labels_of(planned.manifest):
            return None
        if _reference_in(live, id.namespace) == reference_of(planned.manifest, id.namespace):
            return None
        chain = self.change.chains.of(id)[:-1]
        if not chain or any(mapping_at(manifest, "spec").get("suspend") for manifest in chain):
            return None
        ids = tuple(map(object_id, chain))
        problem = _missing_artifact(ids, self.evidence.live, self.now)
        if problem is None:
            return None
        live_cause = self.evidence.live.get(problem.cause)
        changed = changed_at(live_cause) if live_cause else None
        is_late = changed is not None and self.now - changed >= self.timeout
        lasts = problem.lasts or problem.readiness is Readiness.SUSPENDED or is_late
        if lasts and self._asks_for_index(ids, problem.cause):
            lasts = False
        kind = Kind.FAILED if lasts else Kind.PROGRESSING
        return Reason(kind, f"its new source has no artifact: {problem.message}")

    def _asks_for_index(self, chain: tuple[ObjectId, ...], cause: ObjectId) -> bool:
        """Whether a chart is missing from an index that may be older than the chart: its repository is asked once in a run."""
        repository = self.evidence.live.get(chain[0], {}) if chain else {}
        has_index = repository.get("kind") == "HelmRepository" and mapping_at(repository, "spec").get("type") != "oci"
        if cause.kind != "HelmChart" or cause not in chain or not has_index:
            return False
        if asked := self.evidence.asked.get(chain[0]):
            return self.now - asked < _INDEX_PATIENCE
        self.requests.append(Request(chain[0], f"tenantry-{self.now.timestamp():.0f}", once=True))
        return True

    def _of_line(self, id: ObjectId, number: int) -> Reason | None:
        changed = self.change.changed[id]
        if changed.is_state_alone or id.kind == "Secret":
            return None
        through = self.ignoring.through
        if number and through is not None and number > through:
            return Reason(
                Kind.NOT_REQUESTED, f"waits for a run without `--through`, or through wave {number}", wave=number
            )
        # A source that is new harms nobody, and is taken by nobody yet.
        if is_reconciled(id) or changed.live is not None:
            for subject in self.subjects(id):
                before = self.evidence.before.get(subject) if subject not in self.ignoring.after else None
                if before and not self._runs_here(id, subject):
                    return before
        for subject in self.subjects(id) if number else ():
            if (front := self._fronts.get(subject)) and subject not in self.ignoring.waves:
                return front
        return None

    def _runs_here(self, id: ObjectId, subject: str) -> bool:
        """Whether a cluster of this environment runs the content that an app gets, as after a revert."""
        cluster = self.change.objects[id].owner.cluster
        wanted = self._contents.get((subject, cluster))
        return wanted is not None and wanted in self._running.get(subject, ())

    @cached_property
    def _contents(self) -> Mapping[tuple[str, str], str]:
        asked = tuple(app for app in self.plan.apps if app.full_name in self.evidence.before)
        return contents_by(replace(self.plan, apps=asked), lambda app: (app.full_name, app.cluster))

    @cached_property
    def _running(self) -> Mapping[str, set[str]]:
        """By app, the contents that run ready, of what is as planned with all that it takes."""
        running: dict[str, set[str]] = {}
        for app in self.plan.apps:
            content = self._contents.get((app.full_name, app.cluster))
            reconciler = self.lines.reconcilers.get(app.id)
            if content is None or reconciler is None:
                continue
            parts = (app.id, *reconciler.sources, *reconciler.inputs)
            judged = self.judged.get(app.id)
            if judged and judged.state is Readiness.READY and not any(id in self.change.changed for id in parts):
                running.setdefault(app.full_name, set()).add(content)
        return running

    def _needed(self, id: ObjectId, reasons: Mapping[ObjectId, Reason]) -> Reason | None:
        """Why something that an object depends on keeps it back."""
        if self.change.changed[id].is_state_alone:
            return None
        beneath = self._beneath(id) if self.change.changed[id].live is None else ()
        for other in (*self.change.objects[id].depends_on, *beneath):
            if other in reasons:
                return reasons[other].needed(other)
            if (planned := self.change.objects.get(other)) and planned.awaited:
                name = self.lines.name_of(other)
                if other in self.change.changed:
                    return Reason(Kind.PROGRESSING, f"waits for {name}", cause=other)
                judged = self.judged.get(other)
                if judged is None or judged.state not in (Readiness.READY, Readiness.SUSPENDED):
                    message = judged.message if judged else "not on the management cluster"
                    failed = judged is not None and (judged.state is Readiness.FAILED or judged.is_late)
                    return Reason(
                        Kind.FAILED if failed else Kind.PROGRESSING, f"waits for {name}: {message}", cause=other
                    )
        return None

    def _beneath(self, id: ObjectId) -> Iterator[ObjectId]:
        """What this run applies, and something new waits for through what is there already, such as a namespace made beforehand."""
        unchanged = [other for other in self.change.objects[id].depends_on if self._is_unchanged(other)]
        seen = {*unchanged}
        while unchanged:
            further = {*self.change.objects[unchanged.pop()].depends_on} - seen
            seen |= further
            unchanged += (other for other in further if self._is_unchanged(other))
            yield from (other for other in further if other in self.change.objects and not self._is_unchanged(other))

    def _is_unchanged(self, id: ObjectId) -> bool:
        return id in self.change.objects and id not in self.change.changed and id not in self._applied

    # --- waves -------------------------------------------------------------------------------------------------------

    def problem(self, subject: str, wave: Wave, reasons: Mapping[ObjectId, Reason], *, soaks: bool) -> Reason | None:
        """Why a wave does not run the line as planned, ready and for as long as it soaks; None: it does, or has nothing of it."""
        assert self.plan.rollout
        members = self.lines.members.get(subject, {}).get(wave.number, {})
        pending = self._pending_on(subject, wave, reasons)
        # A cluster on which nothing was ever ready does not count, as long as another one does.
        counting = sorted([cluster for cluster in members if cluster in self.evidence.ever_ready] or members)
        shared = worst(self._first(wave, reason) for reason in pending.get("", ()))
        if shared:
            return shared
        problems: dict[Readiness, dict[str, tuple[str, bool]]] = {state: {} for state in Readiness}
        ready: list[Judged] = []
        for cluster in counting:
            reasons_here = pending.get(cluster, ())
            # These block the waves after this one, too; a failure can be tolerated.
            if held := worst(reason for reason in reasons_here if reason.kind in (Kind.WAITING, Kind.NOT_REQUESTED)):
                return self._first(wave, held)
            state, message, is_late, mine = self._on_cluster(members[cluster], reasons_here)
            problems[state][cluster] = message, is_late
            ready += mine if state is Readiness.READY else ()
        name = self.plan.rollout.name_of(wave)
        failed, lost = problems[Readiness.FAILED], problems[Readiness.UNREACHABLE]
        if len(failed) > wave.tolerate.failed:
            return Reason(Kind.FAILED, f"{name}: {_clusters(failed)}", wave=wave.number)
        if len(lost) > wave.tolerate.unreachable:
            kind = Kind.FAILED if all(is_late for _, is_late in lost.values()) else Kind.PROGRESSING
            return Reason(kind, f"{name}: {_clusters(lost)}", wave=wave.number)
        if going := problems[Readiness.PROGRESSING]:
            return Reason(Kind.PROGRESSING, f"{name}: {_clusters(going)}", wave=wave.number)
        if counting and not problems[Readiness.READY]:
            rest = {**failed, **lost, **problems[Readiness.SUSPENDED]}
            return Reason(Kind.FAILED, f"nothing in {name} runs it ready: {_clusters(rest)}", wave=wave.number)
        return self._soak(wave, name, ready) if soaks and wave.soak else None

    def _soak(self, wave: Wave, name: str, ready: Collection[Judged]) -> Reason | None:
        times = [judged.since for judged in ready]
        known = [time for time in times if time]
        if len(known) < len(times):
            message = f"{name} soaks, and Flux does not say since when it is ready"
            return Reason(Kind.WAITING, message, wave=wave.number)
        until = max(known) + timedelta(seconds=wave.soak) if known else self.now
        return Reason(Kind.WAITING, f"{name} soaks", until, wave=wave.number) if until > self.now else None

    def _pending_on(self, subject: str, wave: Wave, reasons: Mapping[ObjectId, Reason]) -> dict[str, list[Reason]]:
        """Why each cluster of a wave does not hold what the plan says; by cluster, "" for what several share, and for marks of what
        is to be removed: nothing of such a cluster counts, but the mark has to be there.
        """
        pending: dict[str, list[Reason]] = {}
        for id in self._pending.get((subject, wave.number), ()):
            planned = self.change.objects[id]
            cluster = planned.owner.cluster
            if not cluster or cluster in wave.clusters:
                cluster = "" if STATE_LABEL in labels_of(planned.manifest) else cluster
                free = Reason(Kind.PROGRESSING, f"{self.lines.name_of(id)} is not applied yet", cause=id)
                pending.setdefault(cluster, []).append(reasons.get(id, free))
        return pending

    def _first(self, wave: Wave, reason: Reason) -> Reason:
        assert self.plan.rollout
        if reason.wave:
            return reason
        return reason._replace(message=f"{self.plan.rollout.name_of(wave)}: {reason.message}", wave=wave.number)

    def _on_cluster(
        self, reconcilers: Iterable[Reconciler], pending: Iterable[Reason]
    ) -> tuple[Readiness, str, bool, list[Judged]]:
        """How a line is on one cluster: its state, the message, whether it is late, and its reconcilers."""
        if reason := worst(pending):
            state = Readiness.FAILED if reason.kind is Kind.FAILED else Readiness.PROGRESSING
            return state, reason.message, False, []
        judged = [self.judged[reconciler.id] for reconciler in reconcilers]
        self.requests += (judgement.request for judgement in judged if judgement.request)
        order = [*Readiness]
        bad = min(judged, key=lambda judgement: order.index(judgement.state), default=None)
        if bad is None or bad.state is Readiness.READY:
            return Readiness.READY, "", False, judged
        return bad.state, f"{bad.reconciler.name}: {bad.message}", bad.is_late, judged


def _clusters(messages: Mapping[str, tuple[str, bool]]) -> str:
    """`edge-1: rocky/web: no such path, and 3 more clusters`"""
    (cluster, (message, _)), *more = messages.items()
    rest = f", and {counted(len(more), 'more cluster')}" if more else ""
    return f"{cluster}: {message}{rest}"


def _units(ids: Collection[ObjectId], change: Change) -> dict[ObjectId, ObjectId]:
    """Changed objects of one wave and tenant that take each other, by a representative: an app, what it takes, and what takes that.

    What is new is in none: nothing takes it yet but by a change, which depends on it.
    """
    above: dict[ObjectId, ObjectId] = {id: id for id in ids if change.changed[id].live is not None}

    def top(id: ObjectId) -> ObjectId:
        while above[id] != id:
            above[id] = above[above[id]]
            id = above[id]
        return id

    for id in above:
        planned = change.objects[id]
        for other in planned.depends_on:
            if other in above and is_taken(other) and change.objects[other].owner.tenant == planned.owner.tenant:
                above[top(id)] = top(other)
    return {id: top(id) for id in above}


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
