"""Holds back the objects of a wave until the wave before is good.

The program waits, not the engine: an object that the engine waits for would hold one of its parallel operations, and a wave can
have more clusters than there are operations.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NoReturn

import pulumi

from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped
from tenantry.plan.plan import Plan
from tenantry.rollout.judging import Awaited, Seen, Watch
from tenantry.rollout.turns import Turn, Turns, turns_of, wanted_of
from tenantry.rollout.waves import Rollout, Wave, in_words
from tenantry.rollout.words import arrived, progress, stopped, unapplied, unreadable
from tenantry.stacks.outcome import tell

from .config import ClusterTarget, Target
from .reading import Reading

_QUIET = 15.0
"""Seconds between two reports of progress."""
TOLD = 32
"""The exit code of a program that has said why it ends: Pulumi adds no message of its own."""


def ended(message: str) -> NoReturn:
    """End the program with this message alone."""
    tell("1")
    pulumi.log.error(message)
    sys.exit(TOLD)


@dataclass(slots=True)
class Gates:
    """The gates of all rollouts of a plan.

    reading: None: nothing is waited for, as in a preview. to_the_end: the last wave is waited for, too.
    """

    environment: str
    turns: Turns
    reading: Reading | None
    end: Callable[[str], NoReturn] = ended
    to_the_end: bool = False
    _begun: dict[Turn, asyncio.Event] = field(default_factory=dict)
    _failed: set[Turn] = field(default_factory=set)

    async def wait(self, turn: Turn | None) -> None:
        """Wait until the objects of a turn may be changed."""
        if turn is not None and self.reading is not None:
            await self._event(turn).wait()

    def failed(self, turn: Turn | None) -> None:
        """The engine could not change an object, and goes on with others."""
        if turn is not None:
            self._failed.add(turn)

    async def lead(self, sent: Iterable[tuple[Turn | None, asyncio.Task[str]]]) -> None:
        """Begin one wave after the other. Raises: RunError: a wave has failed."""
        if self.reading is None:
            return
        tasks = grouped(((turn, task) for turn, task in sent if turn is not None), lambda each: each[0])
        answers = {turn: [task for _, task in found] for turn, found in tasks.items()}
        await asyncio.gather(*(self._rollout(each, answers, self.reading) for each in self.turns.rollouts))

    async def _rollout(
        self, rollout: Rollout, answers: Mapping[Turn, list[asyncio.Task[str]]], reading: Reading
    ) -> None:
        used = {turn.wave for turn in answers if turn.rollout == rollout.name}
        for wave in rollout.waves:
            if wave.number in used:
                is_last = wave.number == max(used) and not self.to_the_end
                await _Run(self, rollout, wave, answers, reading, is_last=is_last).run()

    def _event(self, turn: Turn) -> asyncio.Event:
        return self._begun.setdefault(turn, asyncio.Event())


def gates_of(plan: Plan, target: Target, *, to_the_end: bool = False) -> Gates:
    """The gates of a run. Files have no waves, and a preview says them and waits for nothing.

    to_the_end: whether somebody has to know at the end that the last wave is good, too.
    """
    if not isinstance(target, ClusterTarget):
        return Gates(plan.environment, Turns(), None)
    turns = turns_of(plan)
    if pulumi.runtime.is_dry_run():
        for each in plan.rollouts:
            pulumi.log.info(f"changes go {in_words(each)}")
        return Gates(plan.environment, turns, None)
    return Gates(plan.environment, turns, Reading(plan.environment, target), to_the_end=to_the_end)


@dataclass(slots=True)
class _Run:
    """One wave of this run."""

    gates: Gates
    rollout: Rollout
    wave: Wave
    answers: Mapping[Turn, list[asyncio.Task[str]]]
    reading: Reading
    is_last: bool
    """Nobody waits for it."""
    _started: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    async def run(self) -> None:
        """Return when the next wave may begin."""
        queue = deque(self.wave.clusters)
        watch = Watch(self.rollout, self.wave, self._awaited(), time.monotonic)
        watch.changed(await self._begin(["", *self.wave.left_out]))
        running, waited = 0, False
        while True:
            at_once = (self.rollout.max_parallel or len(queue)) - running
            watch.changed(await self._begin([queue.popleft() for _ in range(min(at_once, len(queue)))]))
            if not queue and (self.is_last or not watch.unseen):
                return
            seen = await self._look(watch)
            if watch.has_failed(seen):
                self.gates.end(stopped(self.gates.environment, self.rollout, self.wave, seen, queue))
            running = len(seen.waiting)
            if not running and not queue:
                self._tell_end(seen, waited=waited)
                return
            if running:
                waited = True
                self._tell_progress(seen)
                await asyncio.sleep(self.reading.pause)

    async def _begin(self, clusters: Iterable[str]) -> list[str]:
        """Change clusters, and return when the engine has. Those to wait for are returned."""
        turns = [Turn(self.rollout.name, self.wave.number, each) for each in clusters]
        for each in turns:
            self.gates._event(each).set()
        await asyncio.gather(*chain.from_iterable(self.answers.get(each, ()) for each in turns))
        if broken := [each for each in turns if each in self.gates._failed]:
            self.gates.end(
                unapplied(self.gates.environment, self.rollout, self.wave, [each.cluster for each in broken])
            )
        return [each.cluster for each in turns if each.cluster in self.wave.clusters]

    def _awaited(self) -> dict[str, list[Awaited]]:
        found = self.gates.turns.awaited.get((self.rollout.name, self.wave.number), ())
        return grouped(found, lambda each: each.cluster)

    async def _look(self, watch: Watch) -> Seen:
        try:
            seen = watch.look(await self.reading.fresh(wanted_of(watch.unseen), self.rollout.timeout))
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
        if waited or seen.failed or seen.left_out:
            pulumi.log.info(arrived(self.rollout, self.wave, seen, time.monotonic() - self._started))
