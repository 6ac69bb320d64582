"""Keeps the environment's record for the gates of other environments: the last object of a run, and an output of the stack.

Nothing sends it before everything else has been answered and every wave is ready, so only a successful run writes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pulumi

from tenantry.cluster import connect
from tenantry.fleet.fleet import Fleet
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.turns import awaited_apps, records_on, unready_apps, wanted_of
from tenantry.stacks.file import NAMESPACE
from tenantry.stacks.record import Record, State, expected, is_awaited, read, record_object, record_of
from tenantry.stacks.targets import type_token

from .config import ClusterTarget
from .gates import Gates
from .registering import Registrar, Registration


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


def keeper_of(fleet: Fleet, plan: Plan, target: ClusterTarget, claim: Claim) -> Keeper | None:
    """None: no gate names the environment, or its record would be too large.

    Raises: Refused: the management cluster cannot be read.
    """
    if not is_awaited(fleet, plan.environment):
        return None
    platform = fleet.document.platform.namespace
    with connect.connect(target.kubeconfig, target.context) as client, connect.answering(client.config):
        found = [read(each) for each in records_on(client, platform, plan.environment)]
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

    async def registration(self, registrar: Registrar, *, complete: bool) -> Registration | None:
        keeper = self.keeper
        # After an error that the engine has passed over, the record of the run before stays.
        record = await self._record() if complete else keeper.before
        if record is None:
            return None
        planned = record_object(keeper.platform, keeper.claim, record)
        return registrar.object(type_token(planned.id), planned.logical_name, planned.manifest, None, (), None)

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
        patience = max(each.timeout for each in self.gates.turns.rollouts)
        try:
            wanted = wanted_of(chain.from_iterable(self.gates.turns.awaited.values()))
            live = await self.gates.reading.fresh(wanted, patience)
        except Refused as refused:
            environment = self.keeper.plan.environment
            self.gates.end(f"everything is applied, but the record of '{environment}' stays as it was: {refused}")
        return unready_apps(self.keeper.plan, self.gates.turns, live)
