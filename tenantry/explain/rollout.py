"""The waves in which a change reaches the clusters of an app, and what reaches them without waves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Origin, origin_at
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.bypasses import bypass
from tenantry.rollout.drawing import rollout_at
from tenantry.rollout.waves import Rollout, rollout_name

Whose: TypeAlias = Literal["environment", "own", "off"]


@dataclass(frozen=True, slots=True)
class AppWave:
    """A wave with clusters of an app. number: in the whole rollout. left_out: clusters that nothing waits for."""

    number: int
    name: str
    clusters: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRollout:
    """of: whose it is; `off`: the app has no waves, although its environment has. total: how many waves there are.

    bypass: what Flux follows by itself, so that it reaches all clusters at the same time, such as `branch main`; or "".
    """

    of: Whose
    origin: Origin
    total: int
    waves: tuple[AppWave, ...]
    bypass: str


def rollout_of(fleet: Fleet, plan: Plan, apps: Collection[PlannedApp], at: tuple[str, ...]) -> AppRollout | None:
    """The rollout of an app, all of whose planned apps are given; None: its environment has none. at: its path in the file."""
    if not plan.rollouts:
        return None
    name = rollout_name(at[1] if at[0] == "tenants" else "", at[-1])
    own = next((each for each in plan.rollouts if each.name == name), None)
    off = own is None and "rollout" in fleet.raw(*at)
    place = (*at, "rollout") if own or off else rollout_at(fleet, plan.environment)
    found = own or plan.rollouts[0]
    objects = {each.id: each for each in plan.objects}
    return AppRollout(
        of="off" if off else "own" if own else "environment",
        origin=origin_at(fleet.source, place),
        total=0 if off else len(found.waves),
        waves=() if off else tuple(_waves(found, {each.cluster for each in apps})),
        bypass="" if off else next(filter(None, (bypass(each, objects) for each in apps)), ""),
    )


def _waves(rollout: Rollout, clusters: Collection[str]) -> list[AppWave]:
    waves = (
        AppWave(
            each.number,
            each.name,
            tuple(name for name in each.clusters if name in clusters),
            tuple(name for name in each.left_out if name in clusters),
        )
        for each in rollout.waves
    )
    return [each for each in waves if each.clusters or each.left_out]
