"""The end of a run: the waves have been led, the result is looked at, and the last object is created.

That is the environment's record for the gates of other environments, which is an output of the stack too. Nothing sends it before
everything else has been answered and every wave is ready, so only a successful run writes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Protocol

import pulumi

from tenantry.fleet.fleet import Fleet
from tenantry.guard.claims import Claim
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.turns import awaited_apps, records_on, unready_apps, wanted_of
from tenantry.stacks.file import NAMESPACE, Reach
from tenantry.stacks.outcome import HELD, is_started_by_tenantry, tell
from tenantry.stacks.record import Record, State, expected, is_awaited, read, record_object, record_of

from .contact import connected
from .former import objects_in_state
from .gates import Gates
from .objects import Answers, Object, Objects, future_of
from .state import resources_in_state


class Last(Protocol):
    """Makes the object that is created after all others, when every wave is good."""

    @property
    def output(self) -> pulumi.Output[Any]: ...

    async def planned(self, *, complete: bool) -> KubeObject | None:
        """complete: whether the engine could change everything. None: there is no such object."""

    def answered(self, outputs: Mapping[str, Any]) -> None:
        """What the engine has of the object; empty if there is none."""

    def failed(self, error: Exception) -> None:
        """The object is not created, because the run has failed."""


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
    parent: pulumi.ComponentResource,
    *,
    check: Check | None,
    last: Last | None,
) -> None:
    """Lead the waves to the end of the run.

    Raises: RunError: a wave or the check has failed, or an app has not moved, and nothing more is created.
    """
    created, moving = objects.created, objects.moving
    try:
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
        complete = all([(await answers.of(each)).ok for each in created.values()]) if check or last else True
        if check and complete:
            await check.check({id: await future_of(created[id].content()) for id in check.ids & created.keys()})
        _tell([*gates.stopped.values(), *moving.told()], gates)
        if last:
            planned = await last.planned(complete=complete and moving.is_complete)
            own = pulumi.ResourceOptions(parent=parent)
            last.answered(await future_of(Object(planned, own).content()) if planned else {})
    except Exception as error:
        if last:
            last.failed(error)
        raise


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


@dataclass(frozen=True, slots=True)
class Keeper:
    """What a run has to know. before: the environment's record so far."""

    plan: Plan
    platform: str
    claim: Claim
    before: Record | None

    def of_run(self, gates: Gates) -> Keeping:
        """Call it in the program's event loop."""
        return Keeping(self, gates, asyncio.get_running_loop().create_future())


def keeper_of(fleet: Fleet, plan: Plan, target: Reach, claim: Claim) -> Keeper | None:
    """None: no gate names the environment, or its record would be too large.

    Raises: Refused: the management cluster cannot be read.
    """
    if not is_awaited(fleet, plan.environment):
        return None
    platform = fleet.document.platform.namespace
    with connected(target) as client:
        found = [read(record) for record in records_on(client, platform, plan.environment)]
    before = next((each for each in found if each and each.environment == plan.environment), None)
    if not record_of(plan, before, datetime.now(UTC)).fits:
        pulumi.log.warn(
            f"the record of environment '{plan.environment}' would be too large for a ConfigMap, so this run leaves none: gates"
            " that name the environment have to read its management cluster\n"
            f"  fix: let them: pulumi config set {NAMESPACE}:kubeconfig FILE, a file that may read what '{plan.environment}' has"
        )
        return None
    return Keeper(plan, platform, claim, before)


@dataclass(frozen=True, slots=True)
class Keeping:
    """The record of one run. _answer: what the engine has of it."""

    keeper: Keeper
    gates: Gates
    _answer: asyncio.Future[Mapping[str, Any]]

    @property
    def output(self) -> pulumi.Output[Any]:
        """What is in the ConfigMap, which a run with `--target` does not change."""
        return pulumi.Output.from_input(self._answer)

    async def planned(self, *, complete: bool) -> KubeObject | None:
        keeper = self.keeper
        # After an error that the engine has passed over, the record of the run before stays.
        record = await self._record() if complete else keeper.before
        return record_object(keeper.platform, keeper.claim, record) if record else None

    def answered(self, outputs: Mapping[str, Any]) -> None:
        self._answer.set_result(outputs.get("data") or {})

    def failed(self, error: Exception) -> None:
        self._answer.set_exception(error)

    async def _record(self) -> Record:
        keeper, now = self.keeper, datetime.now(UTC)
        awaited = awaited_apps(keeper.plan, self.gates.turns)
        if self.gates.reading is None:
            return expected(keeper.plan, keeper.before, now, awaited)
        unready = await self._unready() if awaited else frozenset[str]()
        states = {each: State.UNREADY if each in unready else State.READY for each in awaited}
        return record_of(keeper.plan, keeper.before, now, states)

    async def _unready(self) -> frozenset[str]:
        assert self.gates.reading
        rollout = self.gates.turns.rollout
        assert rollout  # some app is awaited
        try:
            wanted = wanted_of(chain.from_iterable(self.gates.turns.awaited.values()))
            live = await self.gates.reading.fresh(wanted, rollout.timeout)
        except Refused as refused:
            environment = self.keeper.plan.environment
            self.gates.end(f"everything is applied, but the record of '{environment}' stays as it was: {refused}")
        return unready_apps(self.keeper.plan, self.gates.turns, live)
