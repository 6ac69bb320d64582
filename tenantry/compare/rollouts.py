"""Rollouts that differ between two plans: a rollout alone changes no object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tenantry.plan.plan import Plan
from tenantry.plan.waves import Rollout


class ChangedRollout(NamedTuple):
    """A rollout of both plans that differs, or of one of them."""

    before: Rollout | None
    after: Rollout | None

    @property
    def name(self) -> str:
        found = self.after or self.before
        return found.name if found else ""


def changed_rollouts(before: Plan, after: Plan) -> Iterator[ChangedRollout]:
    """Those with other waves or limits, or with a cluster in another wave. A new cluster alone is no difference."""
    old, new = ({each.name: each for each in plan.rollouts} for plan in (before, after))
    for name in dict.fromkeys((*old, *new)):
        found = ChangedRollout(old.get(name), new.get(name))
        if found.before is None or found.after is None or _differs(found.before, found.after):
            yield found


def _differs(before: Rollout, after: Rollout) -> bool:
    if _limits(before) != _limits(after):
        return True
    was = {name: wave.number for wave in before.waves for name in wave.every}
    return any(was.get(name, wave.number) != wave.number for wave in after.waves for name in wave.every)


def _limits(rollout: Rollout) -> tuple[object, ...]:
    return rollout.timeout, rollout.tolerate, rollout.max_parallel, tuple(each.name for each in rollout.waves)
