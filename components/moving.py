"""Apps that a run moves to another source: each is sent when the new source has an artifact, or stays as it is.

With an app that stays, everything that it needs stays, too. What the plan no longer has is registered with all changes ignored:
what is not registered, Pulumi deletes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pulumi

from tenantry.cluster.failures import Failures
from tenantry.cluster.standing import Needs
from tenantry.cluster.status import Readiness
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.rollout.judging import Request
from tenantry.rollout.moves import PATIENCE, Move, is_lost, missing_from, stayed
from tenantry.stacks.outcome import HELD, is_started_by_tenantry, tell
from tenantry.stacks.targets import key_in_state

from .gates import Gates, Reading

EVERYTHING = ("*",)
"""The engine takes the former inputs of an object then."""
_REFERENCES = ("spec.sourceRef", "spec.chartRef")
"""A paused app keeps these alone: that it is suspended has to reach it."""
_QUIET = 15.0
"""Seconds after which a run says what it waits for."""

Keep = Callable[[ObjectId, str, Move, Sequence[pulumi.Resource]], pulumi.Resource]
"""Registers an object that the plan no longer has, under its URN, for an app and after other resources. It stays as it is."""


@dataclass(slots=True)
class Moving:
    """The apps that move in one run.

    gates: which know how the cluster is read. urns: of the state before the run, by what `key_of` gives.
    """

    gates: Gates
    moves: Mapping[ObjectId, Move] = field(default_factory=dict)
    urns: Mapping[str, str] = field(default_factory=dict)
    _stayed: dict[str, list[Move]] = field(default_factory=dict)
    _kept: dict[ObjectId, pulumi.Resource] = field(default_factory=dict)
    _asked: dict[tuple[ObjectId, ...], asyncio.Future[str]] = field(default_factory=dict)

    def of(self, id: ObjectId) -> Move | None:
        """The move of an app that has to be settled before the app is sent."""
        return self.moves.get(id) if self.gates.reading else None

    async def settle(self, move: Move, ignored: list[str], keep: Keep) -> list[pulumi.Resource]:
        """Wait until the new source has an artifact. If it gets none, the app stays as it is.

        Args:    ignored: the changes of the app that the engine ignores, as the SDK reads them when the app is sent.
        Returns: on what the app depends besides. Raises: RunError: it cannot stay, because the state does not have it.
        """
        assert self.gates.reading
        if move.after not in self._asked:
            self._asked[move.after] = asyncio.ensure_future(self._reason(move, self.gates.reading))
        if not (reason := await self._asked[move.after]):
            return []
        self._stayed.setdefault(reason, []).append(move)
        self.gates.stayed[move.app.id] = reason
        if key_in_state(move.app.id) not in self.urns:
            raise pulumi.RunError(
                f"{stayed({reason: [move]})}\n{move.app.id} is not in Pulumi's state, so the run ends here"
            )
        ignored += _REFERENCES if move.paused else EVERYTHING
        return self.keep(move, keep)

    def keep(self, move: Move, keep: Keep) -> list[pulumi.Resource]:
        """Register what an app needs that does not move."""
        kept: list[pulumi.Resource] = []
        for id in move.needs:
            if id not in self._kept and (urn := self.urns.get(key_in_state(id))):
                self._kept[id] = keep(id, urn, move, tuple(kept))
            if id in self._kept:
                kept.append(self._kept[id])
        return kept

    @property
    def is_complete(self) -> bool:
        """Whether every app has moved that had to."""
        return not self._stayed

    def end(self) -> None:
        """Say at the end of a run what has not moved.

        Raises: RunError: nobody else would say it. The engine then deletes nothing, and the next run does.
        """
        if self._stayed:
            message = stayed(self._stayed)
            if not is_started_by_tenantry():
                raise pulumi.RunError(message)
            tell(HELD)
            pulumi.log.error(message)

    async def _reason(self, move: Move, reading: Reading) -> str:
        """Why a source gets no artifact; "" if it has one. Raises: what has ended the run."""
        begun, told, asked, failures = time.monotonic(), False, set[ObjectId](), Failures(time.monotonic)
        patience = float(max((each.timeout for each in self.gates.turns.rollouts), default=PATIENCE))
        while True:
            self.gates.check()
            try:
                live = await reading.fresh(frozenset(move.after), patience)
            except Refused as refused:
                return f"the management cluster cannot be read: {refused}"
            if not (problem := missing_from(move.after, live)):
                return ""
            if problem.readiness is Readiness.FAILED and problem.cause not in asked:
                # What has failed since an earlier run is tried again after minutes alone.
                asked.add(problem.cause)
                with suppress(Refused):
                    await reading.ask([Request(problem.cause, f"tenantry-{time.time_ns()}")])
            failures.look([(move.app.id, Needs(move.after, {}))], live)
            waited = time.monotonic() - begun
            if is_lost(problem, live, failures.lasting) or waited >= patience:
                pulumi.log.warn(f"{problem.message}\n  apps that would move there stay as they are")
                return problem.message
            if waited >= _QUIET and not told:
                told = True
                pulumi.log.info(f"waiting for a source: {problem.message}")
            await asyncio.sleep(reading.pause)
