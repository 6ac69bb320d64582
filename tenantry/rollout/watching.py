"""One wave of a rollout as a run follows it: what it waits for, what has failed, and against whom that counts.

Nothing here reads a cluster or a clock: both are given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from tenantry.kube.objects import ObjectId
from tenantry.messages.text import grouped
from tenantry.rollout.authors import PLATFORM, Author
from tenantry.rollout.flux_status import Readiness, state_of
from tenantry.rollout.judging import Judged, Request, State, judge_awaited
from tenantry.rollout.readiness import Live, Reconciler, is_cut_off
from tenantry.rollout.waves import Rollout, Wave

UNREACHABLE_AFTER = timedelta(seconds=120)
"""For so long Flux has to fail to reach a cluster until the cluster counts as unreachable."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one reading showed, by cluster. Each reason stands for one reconciler that is not good.

    waiting: those that still have time. failed: those that have not, by the author against whom they count. left_out: what was
    suspended by hand. unreachable: those that Flux does not reach. absent: of these, those that it did not reach before their
    change either, so nobody waits for them.
    """

    good: frozenset[str]
    waiting: Mapping[str, list[Judged]]
    failed: Mapping[Author, Mapping[str, list[Judged]]]
    left_out: tuple[Judged, ...]
    requests: tuple[Request, ...]
    unreachable: Mapping[str, list[Judged]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    @property
    def lost(self) -> Mapping[str, list[Judged]]:
        """Those that Flux does not reach any more."""
        return {name: why for name, why in self.unreachable.items() if name not in self.absent}

    @property
    def failed_clusters(self) -> dict[str, list[Judged]]:
        """Those that have failed, whoever is the author."""
        found: dict[str, list[Judged]] = {}
        for clusters in self.failed.values():
            for name, why in clusters.items():
                found.setdefault(name, []).extend(why)
        return found


Blamed: TypeAlias = Callable[[ObjectId, bool], Author | None]
"""Against whom it counts if a reconciler is not ready, which was or was not ready before the wave; None: nobody waits for it."""


@dataclass(slots=True)
class Watch:
    """One wave. The time of a cluster begins when the changes for it have been made; one that was good once stays so.

    awaited: by cluster; what is of others is waited for by nobody. stayed: what was not changed, with the reasons. touched: what
    the run changes. blamed: None: everything counts against the platform.
    """

    rollout: Rollout
    wave: Wave
    awaited: Mapping[str, list[Reconciler]]
    clock: Callable[[], datetime]
    stayed: Mapping[ObjectId, str] = field(default_factory=dict)
    touched: Collection[ObjectId] = frozenset()
    blamed: Blamed = lambda _, __: PLATFORM
    knows_before: bool = False
    _absent: frozenset[str] = frozenset()
    _ready_before: frozenset[ObjectId] = frozenset()
    _cut_off: dict[str, datetime] = field(default_factory=dict)
    _since: dict[str, datetime] = field(default_factory=dict)
    _good: set[str] = field(default_factory=set)
    _left_out: list[Judged] = field(default_factory=list)
    _begun: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def before(self, live: Live) -> None:
        """What has been read before the wave begins: nobody waits for clusters that Flux does not reach already.

        A wave of which it reaches none proves nothing, so that one waits all the same.
        """
        self._ready_before = frozenset(
            each.id
            for own in self.awaited.values()
            for each in own
            if each.id in live and state_of(live[each.id]) is Readiness.READY
        )
        absent = {
            cluster
            for cluster, own in self.awaited.items()
            if any(is_cut_off(live.get(each.id, {})) for each in own)
            and not any(each.id in self._ready_before for each in own)
        }
        self.knows_before = True
        if self.awaited.keys() - absent:
            self._absent = frozenset(absent)

    def changed(self, clusters: Iterable[str]) -> None:
        """The changes for these clusters have been made; those without a reconciler are good at once."""
        for cluster in clusters:
            if cluster in self.awaited:
                self._since.setdefault(cluster, self.clock())
            else:
                self._good.add(cluster)

    def leave(self, is_stopped: Callable[[ObjectId], bool]) -> None:
        """Wait no longer for what is stopped."""
        kept = {name: [each for each in own if not is_stopped(each.id)] for name, own in self.awaited.items()}
        self._good |= {cluster for cluster in self._since if not kept[cluster]}
        self.awaited = kept

    @property
    def unseen(self) -> list[Reconciler]:
        """What has to be read to go on."""
        return [each for cluster in self._since if cluster not in self._good for each in self.awaited[cluster]]

    def look(self, live: Live) -> Seen:
        """Judge what has been read after the last call of `changed`, which is at least what was unseen."""
        waiting: dict[str, list[Judged]] = {}
        failed: dict[Author, dict[str, list[Judged]]] = {}
        unreachable: dict[str, list[Judged]] = {}
        left_out: list[Judged] = []
        requests: list[Request] = []
        now, timeout = self.clock(), timedelta(seconds=self.rollout.timeout)
        for cluster, since in self._since.items():
            if cluster in self._good:
                continue
            judged = [self._judge(each, live, now) for each in self.awaited[cluster] if self._author(each) is not None]
            passed_over = [each for each in judged if each.state is State.LEFT_OUT]
            bad = [each for each in judged if each.state not in (State.GOOD, State.LEFT_OUT)]
            if not bad:
                self._good.add(cluster)
                self._left_out += passed_over
                continue
            left_out += passed_over
            requests += (Request(each.awaited.id, each.request) for each in bad if each.request)
            late = now - since >= timeout
            if cluster in self._absent:
                unreachable[cluster] = bad
            elif self._is_cut_off(judged, live):
                begun = self._cut_off.setdefault(cluster, now)
                gone = late or now - begun >= UNREACHABLE_AFTER
                (unreachable if gone else waiting)[cluster] = bad
            else:
                self._cut_off.pop(cluster, None)
                for author, own in grouped(bad, lambda each: self._author(each.awaited) or PLATFORM).items():
                    if late or any(each.state is State.STUCK for each in own):
                        failed.setdefault(author, {})[cluster] = own
                    else:
                        waiting.setdefault(cluster, []).extend(own)
        absent = self._absent & unreachable.keys()
        every = (*self._left_out, *left_out)
        return Seen(frozenset(self._good), waiting, failed, every, tuple(requests), unreachable, absent)

    def _author(self, awaited: Reconciler) -> Author | None:
        return self.blamed(awaited.id, awaited.id in self._ready_before)

    def _is_cut_off(self, judged: Iterable[Judged], live: Live) -> bool:
        """Whether Flux does not reach a cluster on which something is not good: all that the run changes there is not good, and
        something of it for want of a connection.
        """
        asked = [each for each in judged if each.state is not State.LEFT_OUT]
        if any(each.state is State.GOOD and self._is_touched(each.awaited) for each in asked):
            return False
        return any(each.state is not State.GOOD and is_cut_off(live.get(each.awaited.id, {})) for each in asked)

    def _is_touched(self, awaited: Reconciler) -> bool:
        return any(id in self.touched for id in (awaited.id, *awaited.sources, *awaited.inputs))

    def _judge(self, awaited: Reconciler, live: Live, now: datetime) -> Judged:
        if reason := self.stayed.get(awaited.id):
            return Judged(awaited, State.STUCK, reason)
        return judge_awaited(awaited, live, now, self._begun)

    def over(self, seen: Seen) -> list[Author]:
        """The authors of whom more has gone wrong than is tolerated. Clusters that Flux does not reach any more count against the
        platform, and those that were absent before against nobody.
        """
        tolerate = self.wave.tolerate
        found = {author for author, clusters in seen.failed.items() if len(clusters) > tolerate.failed}
        if len(seen.lost) > tolerate.unreachable:
            found.add(PLATFORM)
        return sorted(found)
