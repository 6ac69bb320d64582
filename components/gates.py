"""Holds back the objects of a wave until the wave before is good.

The program waits, not the engine: an object that the engine waits for would hold one of its parallel operations, and a wave can
have more clusters than there are operations.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import NoReturn

import pulumi

from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped, listed
from tenantry.plan.plan import Plan
from tenantry.rollout.authors import PLATFORM, Author, Authors
from tenantry.rollout.judging import State, judge_awaited
from tenantry.rollout.proven import Proven
from tenantry.rollout.readiness import Reconciler
from tenantry.rollout.turns import Turn, Turns, turns_of, wanted_of
from tenantry.rollout.watching import Seen, Watch
from tenantry.rollout.waves import Rollout, Wave
from tenantry.rollout.words import arrived, held, progress, stopped, unapplied, unkept, unreadable
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import is_started_by_tenantry, tell

from .reading import Reading

_MOST = 5
_QUIET = 15.0
"""Seconds between two reports of progress."""
TOLD = 32
"""The exit code of a program that has said why it ends: Pulumi adds no message of its own."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine says. resource: on which others can depend; None: it was left out. ok: whether the engine could create or
    change it.
    """

    resource: pulumi.Resource | None
    ok: bool


def ended(message: str, code: int = 1) -> NoReturn:
    """End the program with this message alone. Raises: RunError: another process may host the program."""
    tell(str(code))
    if not is_started_by_tenantry():
        raise pulumi.RunError(message)
    pulumi.log.error(message)
    sys.exit(TOLD)


@dataclass(slots=True)
class Gates:
    """The gates of the waves of a plan.

    reading: None: nothing is waited for, as in a preview. left: what stays as it is:
    nobody waits for it, and it waits for nobody. good: called when a wave is good, with what stays as it is. changing: the numbers
    of the waves in which the run changes something. authors: None: whatever fails counts against the platform. proven: what may go
    before its wave.
    """

    environment: str
    turns: Turns
    reading: Reading | None
    end: Callable[..., NoReturn] = ended
    left: frozenset[ObjectId] = frozenset()
    good: Callable[[Wave, Callable[[ObjectId], bool]], Awaitable[None]] | None = None
    changing: frozenset[int] = frozenset()
    authors: Authors | None = None
    proven: Sequence[Proven] = ()
    stayed: dict[ObjectId, str] = field(default_factory=dict)
    """The apps that have not moved to their new sources, with the reasons."""
    stopped: dict[Author, str] = field(default_factory=dict)
    """Those of whom nothing more is changed, with what a run says of it."""
    lacks: bool = False
    """Whether the engine could not change something: what it skipped then can need what it would delete."""
    early: set[ObjectId] = field(default_factory=set)
    """What goes before its wave."""
    _looked: asyncio.Event = field(default_factory=asyncio.Event)
    _begun: dict[Turn, asyncio.Event] = field(default_factory=dict)
    _error: Exception | None = None

    def holds(self, id: ObjectId | None) -> bool:
        """Whether an object waits for its turn."""
        return self.reading is not None and id in self.turns.of and id not in self.left

    async def wait(self, id: ObjectId | None) -> None:
        """Wait until an object may be changed. Raises: what has ended the run before."""
        if id is not None and self.holds(id):
            await self._looked.wait()
            if id not in self.early:
                await self._event(self.turns.of[id]).wait()
        self.check()

    def check(self) -> None:
        """Raises: what has ended the run: nothing more is sent."""
        if self._error:
            raise self._error

    def stays(self, id: ObjectId) -> bool:
        """Whether an object stays as it is, because what its author has changed in an earlier wave has failed."""
        return bool(self.authors and self.authors.is_stopped(id, self.stopped))

    async def lead(self, answers: Mapping[ObjectId, asyncio.Future[Answer]]) -> None:
        """Begin one wave after the other.

        Args:   answers: what the engine says of each object.
        Raises: RunError: a wave has failed. What is held then is never sent.
        """
        if self.reading is None or self.turns.rollout is None:
            return
        await self._look_first(self.reading)
        by_turn = grouped(
            (each for each in answers.items() if self.holds(each[0])), lambda each: self.turns.of[each[0]]
        )
        used = {turn.wave for turn in by_turn}
        try:
            for wave in self.turns.rollout.waves:
                if wave.number in used:
                    is_last = wave.number == max(used) and not wave.soak
                    await _Run(self, self.turns.rollout, wave, by_turn, self.reading, is_last=is_last).run()
        except Exception as error:
            self._error = error
            for turn in by_turn:
                self._event(turn).set()
            raise

    async def _look_first(self, reading: Reading) -> None:
        """Learn what goes at once, because it runs in an earlier wave. Nothing does, if the cluster cannot be read."""
        told = list[str]()
        try:
            if wanted := wanted_of(chain.from_iterable(each.by for each in self.proven)):
                live = await reading.fresh(wanted, 0)
                for each in self.proven:
                    if any(judge_awaited(other, live, _now()).state is State.GOOD for other in each.by):
                        self.early |= each.ids
                        told.append(each.where)
        except Refused:
            return
        finally:
            self._looked.set()
        if told:
            pulumi.log.info(f"goes at once, because an earlier wave runs the same: {listed(told, _MOST)}")

    def begin(self, turn: Turn) -> None:
        """Send the objects of a turn to the engine."""
        self._event(turn).set()

    def _event(self, turn: Turn) -> asyncio.Event:
        return self._begun.setdefault(turn, asyncio.Event())


def _now() -> datetime:
    return datetime.now(UTC)


def gates_of(plan: Plan, target: Reach) -> Gates:
    """The gates of a run. A preview says them and waits for nothing."""
    turns = turns_of(plan)
    if pulumi.runtime.is_dry_run():
        if plan.rollout:
            pulumi.log.info(f"changes go {plan.rollout}")
        return Gates(plan.environment, turns, None)
    return Gates(plan.environment, turns, Reading(plan, target))


@dataclass(slots=True)
class _Run:
    """One wave of this run."""

    gates: Gates
    rollout: Rollout
    wave: Wave
    answers: Mapping[Turn, Sequence[tuple[ObjectId, asyncio.Future[Answer]]]]
    reading: Reading
    is_last: bool
    """Nobody waits for it."""
    _started: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    async def run(self) -> None:
        """Return when the next wave may begin."""
        gates = self.gates
        watch = self._watch()
        if not self.is_last and self.wave.number in gates.changing:
            await self._before(watch)
        await self._begin(["", *self.wave.left_out], not_begun=self.wave.clusters)
        await self._begin(self.wave.clusters)
        watch.changed(self.wave.clusters)
        waited = False
        while True:
            if gates.stopped:
                watch.leave(gates.stays)
            if self.is_last:
                return
            if not watch.unseen:
                await self._good()
                return
            seen = await self._look(watch)
            if over := watch.over(seen):
                self._stop(over, seen)
                continue
            if not seen.waiting:
                self._tell_end(seen, waited=waited)
                await self._good()
                return
            waited = True
            self._tell_progress(seen)
            await asyncio.sleep(self.reading.pause)

    async def _begin(self, clusters: Iterable[str], not_begun: Iterable[str] = ()) -> None:
        """Change clusters, and return when the engine has. not_begun: others of the wave, which come later."""
        turns = [Turn(self.wave.number, cluster) for cluster in clusters]
        for turn in turns:
            self.gates.begin(turn)
        made = {id: await answer for each in turns for id, answer in self.answers.get(each, ())}
        if refused := [id for id, answer in made.items() if not answer.ok and not self.gates.stays(id)]:
            self._stop_refused(refused, not_begun)

    def _stop_refused(self, refused: Iterable[ObjectId], not_begun: Iterable[str]) -> None:
        """Stop those whose objects the engine could not change. Raises: RunError: one of them is the platform."""
        gates, rest = self.gates, [*not_begun]
        by_author = grouped(refused, lambda id: gates.authors.of(id) if gates.authors else PLATFORM)
        if gates.authors is None or PLATFORM in by_author:
            gates.end(unapplied(gates.environment, self.rollout, self.wave, by_author[PLATFORM], rest))
        gates.lacks = True
        for author, ids in by_author.items():
            whose = gates.authors.in_words(author)
            self._hold(author, unapplied(gates.environment, self.rollout, self.wave, ids, rest, whose))

    def _hold(self, author: Author, message: str) -> None:
        """Leave what an author has as it is from now on."""
        self.gates.stopped[author] = message
        pulumi.log.info(message)

    async def _before(self, watch: Watch) -> None:
        """Learn which clusters Flux does not reach before the wave changes anything."""
        if wanted := wanted_of(chain.from_iterable(watch.awaited.values())):
            try:
                watch.before(await self.reading.fresh(wanted, self.rollout.timeout))
            except Refused as refused:
                self.gates.end(unreadable(self.rollout, self.wave, refused))

    def _watch(self) -> Watch:
        gates, authors = self.gates, self.gates.authors
        watch = Watch(self.rollout, self.wave, self._awaited(), _now, gates.stayed)
        if authors:
            watch.touched = authors.touched
            watch.blamed = lambda id, ready: authors.blamed(id, self.wave.number, ready_before=ready)
        return watch

    def _awaited(self) -> dict[str, list[Reconciler]]:
        found = self.gates.turns.awaited.get(self.wave.number, ())
        own = (each for each in found if each.id not in self.gates.left and not self.gates.stays(each.id))
        return grouped(own, lambda each: each.owner.cluster)

    def _stop(self, authors: Iterable[Author], seen: Seen) -> None:
        """Leave what these have as it is from now on. Raises: RunError: one of them is the platform, which changes everybody's."""
        gates, whole = self.gates, [*authors]
        if PLATFORM in whole or not gates.authors:
            gates.end(stopped(gates.environment, self.rollout, self.wave, seen))
        for author in whole:
            whose = gates.authors.in_words(author)
            self._hold(author, held(gates.environment, self.rollout, self.wave, whose, seen.failed[author]))

    async def _good(self) -> None:
        if self.gates.good:
            try:
                await self.gates.good(self.wave, self.gates.stays)
            except Refused as refused:
                self.gates.end(unkept(self.rollout, self.wave, refused))

    async def _look(self, watch: Watch) -> Seen:
        try:
            live = await self.reading.fresh(wanted_of(watch.unseen), self.rollout.timeout)
            if not watch.knows_before:  # nothing changes in the wave
                watch.before(live)
            seen = watch.look(live)
            if seen.requests:
                await self.reading.ask(seen.requests)
        except Refused as refused:
            self.gates.end(unreadable(self.rollout, self.wave, refused))
        return seen

    def _tell_progress(self, seen: Seen) -> None:
        now = time.monotonic()
        if now - self._told >= _QUIET:
            self._told = now
            pulumi.log.info(progress(self.rollout, self.wave, seen))

    def _tell_end(self, seen: Seen, *, waited: bool) -> None:
        if waited or seen.failed or seen.unreachable or seen.left_out:
            pulumi.log.info(arrived(self.rollout, self.wave, seen, time.monotonic() - self._started))
