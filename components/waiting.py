"""What a run holds because it waits for a time: it stays as it is, and a later run goes on.

What waits and is in the state is registered with all changes ignored. What is not in the state is not registered, nor what needs it
and is not there either. What waits needs what it refers to now, also if the plan no longer has that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import pulumi

from tenantry.cluster.drift import Difference
from tenantry.cluster.waves import keep_marks, known_on, owners_of
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.conditions import Mark, Waiting, has_conditions, marked, told, waiting
from tenantry.rollout.moves import by_place, needed_by
from tenantry.rollout.parts import Part, digests_of, parts_of
from tenantry.rollout.waves import Wave
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import WAITING, tell
from tenantry.stacks.targets import key_in_state

from .contact import connected
from .ending import Check, Then
from .former import objects_in_state
from .state import resources_in_state
from .staying import in_order

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

Conditions: TypeAlias = Callable[["Client", Sequence[Difference], Sequence[Manifest]], Waiting]
"""What of the differences waits, and of what is no longer planned."""


@dataclass(slots=True)
class Clocks:
    """The conditions of one run.

    platform: the namespace of the claims. marks: since when each part has been good.
    """

    plan: Plan
    target: Reach
    platform: str
    marks: dict[Part, Mark] = field(default_factory=dict)
    waiting: Waiting = field(default_factory=Waiting)
    _contents: tuple[dict[ObjectId, Part], dict[Part, str]] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def ask(self, client: Client, differences: Sequence[Difference], unplanned: Sequence[Manifest]) -> Waiting:
        """What waits now. A preview says it and holds nothing. Raises: Refused: reading is not allowed."""
        plan, now = self.plan, datetime.now(UTC)
        if not has_conditions(plan):
            return self.waiting
        known = known_on(client, plan, self.platform, now)
        self.marks = dict(known.marks or {})
        found = waiting(plan, [each.id for each in differences], known, owners_of(unplanned))
        if found:
            (pulumi.log.info if pulumi.runtime.is_dry_run() else pulumi.log.warn)(told(plan, found, now))
        if not pulumi.runtime.is_dry_run():
            self.waiting = found
        return self.waiting

    async def good(self, wave: Wave, stays: Callable[[ObjectId], bool]) -> None:
        """A wave has become good: what has changed in it soaks from now on. Raises: Refused: this cannot be written.

        stays: whether an object stays as it is, because what its author has changed has failed.
        """
        if not wave.soak:
            return
        async with self._lock:
            if self._contents is None:
                self._contents = await asyncio.to_thread(_contents, self.plan)
        parts, digests = self._contents
        held = {part for id in self.waiting.objects if (part := parts.get(id))}
        held |= {part for id, part in parts.items() if stays(id)}
        reached = {each for each in digests if each.wave == wave.number} - held
        async with self._lock:
            marks = marked(self.marks, reached, digests, datetime.now(UTC))
            if marks != self.marks:
                await asyncio.to_thread(self._keep, marks)
                self.marks = marks

    def _keep(self, marks: Mapping[Part, Mark]) -> None:
        with connected(self.target) as client:
            keep_marks(client, self.platform, self.plan.environment, marks)


def _contents(plan: Plan) -> tuple[dict[ObjectId, Part], dict[Part, str]]:
    parts = parts_of(plan)
    return parts, digests_of(plan, parts)


@dataclass(frozen=True, slots=True)
class Held:
    """What stays as it is. kept: what is registered with all changes ignored. left_out: what is not registered.

    former: what the plan no longer has. needs: of kept objects, what of that they refer to.
    """

    ids: frozenset[ObjectId] = frozenset()
    kept: frozenset[ObjectId] = frozenset()
    left_out: frozenset[ObjectId] = frozenset()
    former: Sequence[KubeObject] = ()
    needs: Mapping[ObjectId, Sequence[ObjectId]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        plan: Plan,
        waits: Waiting,
        differences: Iterable[Difference],
        unplanned: Iterable[Manifest],
        state: Collection[str],
    ) -> Held:
        """state: its resources by what `key_of` gives. Raises: Refused: the state cannot be read in full."""
        if not waits:
            return cls()
        changed = {each.id: each.live for each in differences}
        kept, left_out = _divided(plan, waits, changed, state)
        others = by_place(unplanned)
        needs = {id: needed_by(live, others) for id in kept if (live := changed.get(id))}
        planned = {each.id for each in plan.objects}
        wanted = [*dict.fromkeys(id for each in needs.values() for id in each), *(waits.objects.keys() - planned)]
        former: dict[ObjectId, KubeObject] = {}
        there = objects_in_state(resources_in_state()) if any(key_in_state(id) in state for id in wanted) else {}
        while wanted:
            if (id := wanted.pop()) in there and id not in former and id not in planned:
                former[id] = there[id]
                wanted += there[id].depends_on
        return cls(frozenset(waits.objects) | left_out, kept, left_out, tuple(former.values()), needs)

    def registered(self, plan: Plan) -> Plan:
        """The plan as a run registers it: without what is left out, and with what the plan no longer has before what needs it."""
        if not self.ids:
            return plan
        return replace(plan, objects=tuple(self._registered(plan)))

    def _registered(self, plan: Plan) -> Iterator[KubeObject]:
        planned = (each for each in plan.objects if each.id not in self.left_out)
        needing = (replace(each, depends_on=(*each.depends_on, *self.needs.get(each.id, ()))) for each in planned)
        done = set[ObjectId]()
        for each in in_order((*needing, *self.former)):
            yield replace(each, depends_on=tuple(dict.fromkeys(id for id in each.depends_on if id in done)))
            done.add(each.id)

    def everything_kept(self) -> frozenset[ObjectId]:
        """What is registered with all changes ignored."""
        return self.kept | {each.id for each in self.former}

    def ending(self, check: Check | None) -> Check | None:
        """The check at the end of a run, which tells the command that started it that something waits."""
        return Then(check, partial(tell, WAITING)) if self.ids else check


def _divided(
    plan: Plan, waits: Waiting, changed: Mapping[ObjectId, Any], state: Collection[str]
) -> tuple[frozenset[ObjectId], frozenset[ObjectId]]:
    """What is kept, and what is left out. What depends on something that is left out is not sent before it, either."""
    kept, left_out = set[ObjectId](), set[ObjectId]()
    for planned in plan.objects:
        lacks = any(id in left_out for id in planned.depends_on)
        if planned.id in waits.objects or (lacks and planned.id in changed):
            (kept if key_in_state(planned.id) in state else left_out).add(planned.id)
    return frozenset(kept), frozenset(left_out)
