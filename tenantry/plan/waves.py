"""The waves of an environment's rollouts, and which wave each planned object belongs to.

Called by: the plan. What waits for a wave while `pulumi up` runs is in `components/`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import clusters_of_app
from tenantry.fleet.rollouts import Drawn, drawn, environment_rollout, is_active, own_rollouts, rollout_at
from tenantry.messages.errors import Path
from tenantry.messages.text import counted, listed
from tenantry.model import Rollout as Declared
from tenantry.model.scalars import seconds_of

_MOST_COUNTS = 5


@dataclass(frozen=True, slots=True)
class Wave:
    """Clusters that change together. number: from 1; name: as written, or `wave 2`.

    clusters: those that the next wave waits for, sorted. left_out: paused or decommissioned, so nothing waits for them.
    """

    number: int
    name: str
    clusters: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All clusters of the wave, sorted."""
        return tuple(sorted((*self.clusters, *self.left_out)))


@dataclass(frozen=True, slots=True)
class Rollout:
    """A chain of waves. name: "" for the environment's, `rocky/web` for an app's own, `addon dns` for an add-on's own.

    timeout: seconds. tolerate: how many clusters of a wave may fail. max_parallel: None: all of a wave change at the same time.
    """

    name: str
    waves: tuple[Wave, ...]
    timeout: int
    tolerate: int = 0
    max_parallel: int | None = None

    def by_cluster(self) -> dict[str, Wave]:
        """The wave of each cluster that this rollout reaches."""
        return {name: wave for wave in self.waves for name in (*wave.clusters, *wave.left_out)}


def in_words(rollout: Rollout) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479."""
    first, *others = (each.every for each in rollout.waves)
    clusters = f"{counted(len(first), 'cluster')} ({listed(first)}){then(map(len, others))}"
    return f"{f'{rollout.name}: ' if rollout.name else ''}in {counted(len(rollout.waves), 'wave')}: {clusters}"


def then(counts: Iterable[int]) -> str:
    """How many clusters the waves after the first have, such as: `, then 20, then 479`. Those of many waves are not all listed."""
    every = list(counts)
    shown = every if len(every) <= _MOST_COUNTS else every[: _MOST_COUNTS - 1]
    left = len(every) - len(shown)
    return "".join(f", then {each}" for each in shown) + (f", then {left} more waves" if left else "")


def rollout_name(tenant: str, app: str) -> str:
    """What the own rollout of an app, or of an add-on with the tenant "", is called."""
    return f"{tenant}/{app}" if tenant else f"addon {app}"


def rollouts_of(fleet: Fleet, environment: str) -> tuple[tuple[Rollout, ...], frozenset[str]]:
    """The environment's rollout and those of its apps, and the names of the apps for which it is off.

    A rollout of an environment without clusters is none.
    An app's own rollout replaces the environment's, so without that one there is none.
    """
    declared = environment_rollout(fleet, environment)
    if declared is None:
        return (), frozenset()
    found, off = [_rollout(fleet, "", declared, clusters_of(fleet, environment), rollout_at(fleet, environment))], set()
    for at, own in own_rollouts(fleet):
        name, clusters = (
            rollout_name(at[1] if at[0] == "tenants" else "", at[-1]),
            clusters_of_app(fleet, environment, at),
        )
        if own.disabled:
            off.add(name)
        elif clusters:
            found.append(_rollout(fleet, name, own, clusters, (*at, "rollout")))
    return tuple(each for each in found if each.waves), frozenset(off)


def _rollout(fleet: Fleet, name: str, declared: Declared, clusters: Iterable[str], at: Path) -> Rollout:
    waves = tuple(_waves(fleet, drawn(fleet, declared, clusters, at)))
    seconds = math.ceil(seconds_of(declared.timeout))
    return Rollout(name, waves, seconds, declared.tolerate, declared.maxParallel)


def _waves(fleet: Fleet, every: Iterable[Drawn]) -> Iterator[Wave]:
    """Those that have clusters. An app is not on all clusters, so that some of its waves may have none."""
    for number, each in enumerate((each for each in every if each.clusters), 1):
        active = [name for name in each.clusters if is_active(fleet, name)]
        left_out = [name for name in each.clusters if not is_active(fleet, name)]
        yield Wave(number, each.wave.name or f"wave {number}", tuple(sorted(active)), tuple(sorted(left_out)))
