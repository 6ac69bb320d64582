"""How a run reads the management cluster: one reader for all waves, which leaves the API server time for others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tenantry.cluster.connect import answering
from tenantry.cluster.reading import read_objects
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.judging import Request
from tenantry.rollout.readiness import Live
from tenantry.rollout.turns import ask
from tenantry.stacks.file import Reach

from .contact import connected

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_T = TypeVar("_T")

_PAUSE = 1.0
_REST = 3
"""For each second that a reading took, the API server rests for so many."""


@dataclass(slots=True)
class Reading:
    """One reader for all gates."""

    plan: Plan
    target: Reach
    pause: float = _PAUSE
    _wanted: set[ObjectId] = field(default_factory=set)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _begun: float = -1.0
    _found: Live = field(default_factory=dict)
    _client: Client | None = None
    _opened: ExitStack = field(default_factory=ExitStack)

    async def fresh(self, wanted: frozenset[ObjectId], patience: float) -> Live:
        """What is there now, of these objects at least. Gates that ask at the same time share a reading.

        patience: seconds for which a cluster that does not answer is asked again. Raises: Refused.
        """
        asked = time.monotonic()
        while True:
            self._wanted |= wanted
            try:
                async with self._lock:
                    if self._begun < asked:
                        await self._read()
                    return self._found
            except Refused as refused:
                if refused.code != UNREACHABLE or time.monotonic() - asked >= patience:
                    raise
            await asyncio.sleep(_PAUSE)

    async def ask(self, requests: Iterable[Request]) -> None:
        """Have Flux reconcile objects. Raises: Refused: it is not allowed. One that does not arrive is sent again later."""
        try:
            await asyncio.to_thread(self._explained, lambda client: ask(client, requests))
        except Refused as refused:
            if refused.code != UNREACHABLE:
                raise

    async def _read(self) -> None:
        begun, wanted, self._wanted = time.monotonic(), self._wanted, set()

        def call(client: Client) -> Live:
            return read_objects(client, self.plan.environment, wanted, whole=False)

        try:
            found = await asyncio.to_thread(self._explained, call)
        except Refused:
            self._wanted |= wanted  # of the gates that wait for this reading, too
            raise
        self._begun, self._found = begun, found
        self.pause = max(_PAUSE, _REST * (time.monotonic() - begun))

    def _explained(self, call: Callable[[Client], _T]) -> _T:
        if self._client is None:
            self._client = self._opened.enter_context(connected(self.target))
        with answering(self._client):
            return call(self._client)
