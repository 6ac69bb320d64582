"""The rounds of a run: register what is free, read the cluster, and ask again, until nothing is waited for any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pulumi

from tenantry.cluster.connect import answering
from tenantry.cluster.drift import compared, take_off_added
from tenantry.cluster.leftovers import delete
from tenantry.cluster.reading import live_for, read_objects, reconcile
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.rollout.blocked import Asking
from tenantry.rollout.change import Kind, Reason, wanted_of

from .compare import check_applied
from .config import connected
from .objects import Object, Objects
from .run import Run, end, readable_errors

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_T = TypeVar("_T")
_PAUSE = 1.0
_REST = 3
"""For each second that a reading took, the API server rests for so many."""
_QUIET = 15.0
"""Seconds between two reports of progress."""
_CLEAN_UP = 300.0
"""Seconds in which Flux has to clean up what an interrupted run had created."""


class Rounds:
    """change, evidence: as of the last asking. pending: planned objects that are not registered yet, in order.

    reasons: why objects are blocked. applied: what this run has applied.
    """

    def __init__(self, run: Run, objects: Objects) -> None:
        self.run, self.objects, self.change, self.evidence = run, objects, run.change, run.evidence
        self.pending = {object.id: object for object in run.plan.objects}
        self.reasons: Mapping[ObjectId, Reason] = {}
        self.applied: list[ObjectId] = []
        self._registered: dict[ObjectId, Object] = {}
        """What has changed, and the engine has not answered yet."""
        self._client: Client | None = None
        self._opened = ExitStack()
        self._reported = -1, 0.0

    # --- the first round: while the program builds its components ----------------------------------------------------

    def begin(self) -> None:
        """Register everything that is free. A preview registers what a run would register at its end, and ends."""
        if pulumi.runtime.is_dry_run():
            self._register_rest(self.evidence.refused.keys() & self.change.changed.keys())
            return
        self._ask()
        with readable_errors():
            if self._take_off():
                self._ask()
        self._register_free()

    # --- the rounds --------------------------------------------------------------------------------------------------

    async def lead(self) -> Mapping[str, str]:
        """Ask again until nothing is waited for, and register what is left.

        Returns: the reasons of the lines that are blocked. Raises: RunError: something failed that nobody else would report.
        """
        if pulumi.runtime.is_dry_run():
            return {}
        try:
            waiting = await self._rounds()
            await self._finish()
        except Refused as refused:
            raise pulumi.RunError(f"the run ends here, and deletes nothing: {refused}") from refused
        finally:
            self._opened.close()
        try:
            return end(self.run, self.change, self.reasons, waiting)
        except pulumi.RunError:
            # The SDK drops what it has not sent yet as soon as an output fails.
            await asyncio.gather(*(made.urn.future() for made in self.objects.created.values()), return_exceptions=True)
            raise

    async def _rounds(self) -> dict[str, Reason]:
        """Returns: the lines that are applied, and not ready."""
        progress, pause = time.monotonic(), _PAUSE
        while True:
            await self._answers()
            begun = time.monotonic()
            try:
                if self.change.changed or self.applied:
                    await self._read()
                waiting = await self._ask_flux()
            except Refused as refused:
                if refused.code != UNREACHABLE or time.monotonic() - progress >= self.run.plan.timeout:
                    raise pulumi.RunError(f"the management cluster cannot be read: {refused}") from refused
                await asyncio.sleep(pause)
                continue
            pause = max(_PAUSE, _REST * (time.monotonic() - begun))
            if await asyncio.to_thread(self._take_off):
                continue
            if self._register_free():
                progress = time.monotonic()
                continue
            reasons = [*self.reasons.values(), *waiting.values()]
            progressing = [reason for reason in reasons if reason.kind is Kind.PROGRESSING]
            if not progressing or time.monotonic() - progress >= self.run.plan.timeout:
                return waiting
            self._report(progressing[0], len(progressing))
            await asyncio.sleep(pause)

    async def _answers(self) -> None:
        """Wait for the engine, and learn what it has applied. Raises: what the engine could not do."""
        registered, self._registered = self._registered, {}
        answers = {id: await made.content() for id, made in registered.items()}
        if not answers:
            return
        done = {id for id, answer in answers.items() if self._is_applied(id, answer)}
        self.applied += (id for id in answers if id in done)
        left = {id: change for id, change in self.change.changed.items() if id not in done}
        self.change = replace(self.change, changed=left)
        self.evidence = replace(self.evidence, left_out={*self.evidence.left_out, *(answers.keys() - done)})

    def _is_applied(self, id: ObjectId, answer: Mapping[str, Any]) -> bool:
        """Whether the engine has applied an object. What `--target` leaves out is as it was before.

        An admission policy can write other values than the planned ones, so that not all fields have to be as planned.
        """
        if answer.get("kind") != id.kind:
            return False
        before = self.change.changed[id]
        if before.live is None or not before.changed:
            return True
        return not {*before.changed} <= {*compared(before.planned.manifest, answer)[0]}

    async def _read(self) -> None:
        wanted = wanted_of(self.change, self.applied)
        known = {id: live for id, live in self.evidence.live.items() if id not in wanted}
        read = partial(live_for, change=self.change, known=known, applied=self.applied)
        self.evidence = replace(self.evidence, live=await asyncio.to_thread(self._asked, read))

    def _ask(self) -> Asking:
        asking = Asking(self.change, self.evidence, self.run.now(), self.run.ignoring, self.applied)
        self.reasons = asking.blocked
        return asking

    async def _ask_flux(self) -> dict[str, Reason]:
        """Ask again, and have Flux reconcile what it would not look at by itself. Returns: the lines that are not ready."""
        asking = self._ask()
        if asking.requests:
            await asyncio.to_thread(self._asked, lambda client: reconcile(client, asking.requests))
            asked = {**self.evidence.asked, **{request.id: self.run.now() for request in asking.requests}}
            self.evidence = replace(self.evidence, asked=asked)
        return asking.unready

    def _take_off(self) -> bool:
        """Remove the fields that others have added to what is free. Returns: whether the server refuses one of them."""
        free = (
            (id, change) for id, change in self.change.changed.items() if id in self.pending and id not in self.reasons
        )
        added = [change for _, change in free if change.added]
        refused = self._asked(lambda client: take_off_added(client, added)) if added else {}
        self.evidence = replace(self.evidence, refused={**self.evidence.refused, **refused})
        return bool(refused)

    def _register_free(self) -> bool:
        """Register what is not blocked, after everything that it depends on. Returns: whether there was anything."""
        before = len(self.pending)
        for id, planned in list(self.pending.items()):
            if id not in self.reasons and not any(dependency in self.pending for dependency in planned.depends_on):
                made = self.objects.create(planned)
                del self.pending[id]
                if id in self.change.changed:
                    self._registered[id] = made
        return len(self.pending) < before

    def _report(self, reason: Reason, count: int) -> None:
        now = time.monotonic()
        if now - self._reported[1] >= _QUIET or reason.wave != self._reported[0]:
            self._reported = reason.wave, now
            more = f" (and {count - 1} more)" if count > 1 else ""
            pulumi.log.info(f"waiting: {reason.message}{more}")

    # --- the end -----------------------------------------------------------------------------------------------------

    async def _finish(self) -> None:
        """Register what is held, and remove what an interrupted run has left."""
        removed = self.change.removed
        live: Mapping[ObjectId, Manifest] = {}
        if removed:
            read = partial(read_objects, environment=self.run.plan.environment, wanted=removed, whole=False)
            live = await asyncio.to_thread(self._asked, read)
        self.change = replace(self.change, removed={id: live[id] for id in removed if id in live})
        self._ask()
        if self.reasons:
            await asyncio.to_thread(self._ask_state, removed)
        self._register_rest(self.reasons)
        orphans = [orphan for id, orphan in self.run.comparison.orphans.items() if id not in self.reasons]
        if orphans and not any(reason.kind is Kind.FAILED for reason in self.reasons.values()):
            await asyncio.to_thread(self._asked, lambda client: delete(client, orphans, _CLEAN_UP))
        applied = {id: await self.objects.created[id].content() for id in self.applied}
        before = self.run.comparison.differences
        if applied:
            plan = self.change.plan
            await asyncio.to_thread(self._asked, lambda client: check_applied(client, plan, before, applied))

    def _ask_state(self, known: Collection[ObjectId]) -> None:
        """Ask once more with what the state alone knows: what held objects depend on, and removed objects of kinds that the
        comparison did not list. known: the removed objects that it did.
        """
        state, planned = self.run.state, self.change.lines.objects
        unknown = (id for id in state.objects() if id not in planned and id not in known)
        unlisted = {id: remembered.inputs for id in unknown if (remembered := state.object(id))}
        self.change = replace(self.change, removed={**unlisted, **self.change.removed})
        self._ask()

    def _register_rest(self, held: Iterable[ObjectId]) -> None:
        missing = {id for id, change in self.run.change.changed.items() if change.live is None}
        self.objects.finish(self.pending, dict.fromkeys(held), missing)

    def _asked(self, call: Callable[[Client], _T]) -> _T:
        """Raises: Refused."""
        if self._client is None:
            self._client = self._opened.enter_context(connected(self.run.target))
        with answering(self._client):
            return call(self._client)
