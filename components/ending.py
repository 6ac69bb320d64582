"""The end of a run: the waves have been led, and the result is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pulumi

from tenantry.kube.objects import ObjectId
from tenantry.stacks.outcome import HELD, is_started_by_tenantry, tell

from .former import objects_in_state
from .gates import Gates
from .objects import Answers, Objects, future_of
from .state import resources_in_state


class Check(Protocol):
    """Looks at some objects when all have been created. ids: which ones."""

    @property
    def ids(self) -> frozenset[ObjectId]: ...

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """answers: what the engine says that each object is. Raises: RunError: something is wrong."""


@dataclass(frozen=True, slots=True)
class Then:
    """A check, after which a run, and no preview, tells the command that started it how it ends."""

    inner: Check | None
    say: Callable[[], None]

    @property
    def ids(self) -> frozenset[ObjectId]:
        return self.inner.ids if self.inner else frozenset()

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """Raises: as the check, and what is said."""
        if self.inner:
            await self.inner.check(answers)
        if not pulumi.runtime.is_dry_run():
            self.say()


async def end(
    objects: Objects,
    answers: Answers,
    *,
    check: Check | None,
) -> None:
    """Lead the waves to the end of the run.

    Raises: RunError: a wave or the check has failed, or an app has not moved, and nothing more is created.
    """
    created, moving = objects.created, objects.moving
    gates = answers.gates
    await gates.lead({id: objects.answer(id) for id in objects.late if gates.holds(id)})
    for late in objects.late.values():
        await late
    objects.close()
    failed = [move for id, move in moving.moves.items() if not (await objects.answer(id)).ok]
    for move in failed if gates.reading else ():
        moving.keep(move, objects.keep)
    if gates.authors and gates.stopped:
        tenants = gates.authors.tenants_of(gates.stopped)
        planned_ids = created.keys() | objects.late.keys()
        there = objects_in_state(await asyncio.to_thread(resources_in_state))
        theirs = [each for id, each in there.items() if each.owner.tenant in tenants and id not in planned_ids]
        moving.staying.keep_all((each for each in theirs if moving.staying.exists(each.id)), objects.keep)
    if check and all([(await answers.of(each)).ok for each in created.values()]):
        await check.check({id: await future_of(created[id].content()) for id in check.ids & created.keys()})
    _tell([*gates.stopped.values(), *moving.told()], gates)


def _tell(incomplete: list[str], gates: Gates) -> None:
    """Say at the end of a run what it has not changed, because something has failed or has not arrived.

    Raises: RunError: nobody else would say it, or the engine could not change everything. The engine then deletes nothing, and a
    later run does.
    """
    if incomplete:
        message = "\n".join(incomplete)
        if gates.lacks:
            gates.end(message)
        if not is_started_by_tenantry():
            raise pulumi.RunError(message)
        tell(HELD)
        pulumi.log.error(message)
