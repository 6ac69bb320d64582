"""Rollouts that differ between two plans: a rollout alone changes no object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, rollout_name

Side: TypeAlias = Rollout | Literal[False] | None
"""A rollout in one of two plans. False: it is switched off for an app. None: there is none, so an app follows the environment's."""


class ChangedRollout(NamedTuple):
    """A rollout that differs. name: as in `Rollout`."""

    name: str
    before: Side
    after: Side


def changed_rollouts(before: Plan, after: Plan) -> Iterator[ChangedRollout]:
    """Those with other waves or limits, with a cluster in another wave, or switched off or on for an app.

    A new cluster alone is no difference, and neither is an app without waves that is removed.
    """
    old, new = _by_name(before), _by_name(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        is_gone = was is False and now is None and not (after.rollouts and name in _names(after))
        if _differs(was, now) and not is_gone:
            yield ChangedRollout(name, was, now)


def _by_name(plan: Plan) -> dict[str, Side]:
    found: dict[str, Side] = {each.name: each for each in plan.rollouts}
    if plan.off:
        found |= dict.fromkeys((name for name in _names(plan) if name in plan.off), False)
    return found


def _names(plan: Plan) -> dict[str, None]:
    """What rollouts of the apps of a plan are called, each once."""
    return dict.fromkeys(rollout_name(each.tenant, each.name) for each in plan.apps)


def _differs(before: Side, after: Side) -> bool:
    if not before or not after:
        return before is not after
    if _limits(before) != _limits(after):
        return True
    was = {name: wave.number for wave in before.waves for name in wave.every}
    return any(was.get(name, wave.number) != wave.number for wave in after.waves for name in wave.every)


def _limits(rollout: Rollout) -> tuple[object, ...]:
    return rollout.timeout, rollout.tolerate, rollout.max_parallel, tuple(each.name for each in rollout.waves)
