"""Apps that a run moves to another source: each is sent when the new source has an artifact, or stays as it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pulumi

from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.rollout.flux_status import Readiness
from tenantry.rollout.judging import Request
from tenantry.rollout.moves import PATIENCE, Move, is_lost, missing_from, stayed

from .gates import Gates
from .reading import Reading
from .staying import EVERYTHING, Keep, Staying

_REFERENCES = ("spec.sourceRef", "spec.chartRef")
"""A paused app keeps these alone: that it is suspended has to reach it."""
_QUIET = 15.0
"""Seconds after which a run says what it waits for."""


@dataclass(slots=True)
class Moving:
    """The apps that move in one run.

    gates: which know how the cluster is read. staying: registers what an app needs that stays.
    """

    gates: Gates
    moves: Mapping[ObjectId, Move] = field(default_factory=dict)
    staying: Staying = field(default_factory=Staying)
    _stayed: dict[str, list[Move]] = field(default_factory=dict)
    _asked: dict[tuple[ObjectId, ...], asyncio.Future[str]] = field(default_factory=dict)

    def of(self, id: ObjectId) -> Move | None:
        """The move of an app that has to be settled before the app is sent."""
        return self.moves.get(id) if self.gates.reading else None

    async def settle(self, move: Move, keep: Keep) -> tuple[Sequence[str], list[pulumi.Resource]]:
        """Wait until the new source has an artifact. If it gets none, the app stays as it is.

        Returns: the changes of the app that the engine ignores, and on what it depends besides.
        Raises: RunError: it cannot stay, because the state does not have it.
        """
        assert self.gates.reading
        if move.after not in self._asked:
            self._asked[move.after] = asyncio.ensure_future(self._reason(move, self.gates.reading))
        if not (reason := await self._asked[move.after]):
            return (), []
        self._stayed.setdefault(reason, []).append(move)
        self.gates.stayed[move.app.id] = reason
        if not self.staying.exists(move.app.id):
            raise pulumi.RunError(
                f"{stayed({reason: [move]})}\n{move.app.id} is not in Pulumi's state, so the run ends here"
            )
        return _REFERENCES if move.paused else EVERYTHING, self.keep(move, keep)

    def keep(self, move: Move, keep: Keep) -> list[pulumi.Resource]:
        """Register what an app needs that does not move."""
        return self.staying.register(move.needs, move.app.owner, move.where, keep)

    @property
    def is_complete(self) -> bool:
        """Whether every app has moved that had to."""
        return not self._stayed

    def told(self) -> list[str]:
        """What has not moved, to be said at the end of a run."""
        return [stayed(self._stayed)] if self._stayed else []

    async def _reason(self, move: Move, reading: Reading) -> str:
        """Why a source gets no artifact; "" if it has one. Raises: what has ended the run."""
        begun, told, asked = datetime.now(UTC), False, set[ObjectId]()
        rollout = self.gates.turns.rollout
        patience = float(rollout.timeout if rollout else PATIENCE)
        while True:
            self.gates.check()
            try:
                live = await reading.fresh(frozenset(move.after), patience)
            except Refused as refused:
                return f"the management cluster cannot be read: {refused}"
            now = datetime.now(UTC)
            if not (problem := missing_from(move.after, live, now, begun)):
                return ""
            if problem.readiness is Readiness.FAILED and problem.cause not in asked:
                # What has failed since an earlier run is tried again after minutes alone.
                asked.add(problem.cause)
                with suppress(Refused):
                    await reading.ask([Request(problem.cause, f"tenantry-{time.time_ns()}")])
            waited = (now - begun).total_seconds()
            if is_lost(problem) or waited >= patience:
                pulumi.log.warn(f"{problem.message}\n  apps that would move there stay as they are")
                return problem.message
            if waited >= _QUIET and not told:
                told = True
                pulumi.log.info(f"waiting for a source: {problem.message}")
            await asyncio.sleep(reading.pause)
