"""Follows a wave of a rollout from the change to the moment when it is good, or has failed. Its clock is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tenantry.cluster.failures import Failures
from tenantry.cluster.rollout import Awaited, Judged, State, judge
from tenantry.cluster.standing import Live
from tenantry.kube.objects import ObjectId
from tenantry.plan.waves import Rollout, Wave


class Request(NamedTuple):
    """A value of `requestedAt` that makes Flux read what an object refers to again."""

    id: ObjectId
    token: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one reading showed, by cluster. Each reason stands for one reconciler that is not good.

    waiting: clusters that still have time. failed: those that have not. left_out: what was suspended by hand.
    """

    good: frozenset[str]
    waiting: Mapping[str, list[Judged]]
    failed: Mapping[str, list[Judged]]
    left_out: tuple[Judged, ...]
    requests: tuple[Request, ...]


@dataclass(slots=True)
class Watch:
    """One wave. A cluster's time begins when the changes for it have been made; a cluster that was good once stays so.

    awaited: by cluster; what is on other clusters is waited for by nobody.
    """

    rollout: Rollout
    wave: Wave
    awaited: Mapping[str, list[Awaited]]
    clock: Callable[[], float]
    _since: dict[str, float] = field(default_factory=dict)
    _good: set[str] = field(default_factory=set)
    _left_out: list[Judged] = field(default_factory=list)
    _failures: Failures = field(init=False)

    def __post_init__(self) -> None:
        self._failures = Failures(self.clock)

    def changed(self, clusters: Iterable[str]) -> None:
        """The changes for these clusters have been made; those without a reconciler are good at once."""
        for each in clusters:
            if each in self.awaited:
                self._since.setdefault(each, self.clock())
            else:
                self._good.add(each)

    @property
    def unseen(self) -> list[Awaited]:
        """What has to be read to go on."""
        return [each for cluster in self._since if cluster not in self._good for each in self.awaited[cluster]]

    def look(self, live: Live) -> Seen:
        """Judge what has been read after the last call of `changed`, which is at least what was unseen."""
        waiting: dict[str, list[Judged]] = {}
        failed: dict[str, list[Judged]] = {}
        left_out: list[Judged] = []
        requests: list[Request] = []
        self._failures.look(((each.id, each.needs) for each in self.unseen), live)
        for cluster, since in self._since.items():
            if cluster in self._good:
                continue
            judged = [judge(each, live, self._failures.lasting) for each in self.awaited[cluster]]
            passed_over = [each for each in judged if each.state is State.LEFT_OUT]
            bad = [each for each in judged if each.state not in (State.GOOD, State.LEFT_OUT)]
            if not bad:
                self._good.add(cluster)
                self._left_out += passed_over
                continue
            left_out += passed_over
            requests += (Request(each.awaited.id, each.request) for each in bad if each.request)
            late = self.clock() - since >= self.rollout.timeout
            stuck = any(each.state is State.STUCK for each in bad)
            (failed if late or stuck else waiting)[cluster] = bad
        return Seen(frozenset(self._good), waiting, failed, (*self._left_out, *left_out), tuple(requests))

    def has_failed(self, seen: Seen) -> bool:
        return len(seen.failed) > self.rollout.tolerate
