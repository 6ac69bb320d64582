"""Which rollout an environment and its apps have, and which clusters each wave takes.

Called by: the plan, the rules about rollouts, and `explain`, so that all of them agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.flux_shards import key_of
from tenantry.messages.errors import Path
from tenantry.model import App, Cluster, Rollout, RolloutWave


@dataclass(frozen=True, slots=True)
class Drawn:
    """The clusters that one wave takes, in the order of the file. at: where the wave is written."""

    wave: RolloutWave
    clusters: tuple[str, ...]
    at: Path


def environment_rollout(fleet: Fleet, environment: str) -> Rollout | None:
    """The environment's own; None: it has none, or it is off."""
    found = fleet.environments[environment].rollout
    return None if found is None or found.disabled else found


def rollout_at(fleet: Fleet, environment: str) -> Path:
    """Where the waves of the environment's rollout are written: in it, or in the nearest environment that it extends."""
    for name in reversed(fleet.lineage(environment)):
        if "waves" in fleet.raw("environments", name, "rollout"):
            return ("environments", name, "rollout")
    return ("environments", environment, "rollout")


def own_rollouts(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Rollout]]:
    """The rollouts of apps and add-ons themselves, with the path of each app; also those that are off."""
    for at, app in _apps(fleet):
        if app.rollout is not None:
            yield at, app.rollout


def _apps(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], App]]:
    for tenant, declared in fleet.document.tenants.items():
        yield from ((("tenants", tenant, "apps", name), app) for name, app in declared.apps.items())
    for name, addon in fleet.document.platform.addons.items():
        yield ("platform", "addons", name), addon


def drawn(fleet: Fleet, rollout: Rollout, clusters: Iterable[str], at: Path) -> tuple[Drawn, ...]:
    """The waves of a rollout over some clusters.

    Waves by name or label take theirs first, so that a share of the rest cannot take a cluster that another wave names. A
    cluster that two waves name is in both; a rule refuses that.
    at: where the rollout is written.
    """
    waves, every = rollout.waves or [], {name: fleet.clusters[name] for name in clusters}
    named = [tuple(name for name, cluster in every.items() if _is_named(wave, name, cluster)) for wave in waves]
    taken = {name for each in named for name in each}
    rest = [name for name in every if name not in taken]
    found = []
    for index, (wave, mine) in enumerate(zip(waves, named, strict=True)):
        if wave.all or wave.percent is not None:
            left = [name for name in rest if wave.selector.takes(name, every[name].labels)]
            share = set(left) if wave.all else _share(fleet, left, wave.percent or 0)
            mine = tuple(name for name in rest if name in share)
            rest = [name for name in rest if name not in share]
        found.append(Drawn(wave, mine, (*at, "waves", index)))
    return tuple(found)


def _is_named(wave: RolloutWave, name: str, cluster: Cluster) -> bool:
    if wave.all or wave.percent is not None:
        return False
    return wave.selector.takes(name, cluster.labels)


def _share(fleet: Fleet, names: Sequence[str], percent: int) -> set[str]:
    """The first clusters in the order of their hashes.

    A wave of paused clusters would prove nothing, so the share is counted among the others, if there are any.
    """
    counting = [name for name in names if is_active(fleet, name)] or list(names)
    wanted = math.ceil(len(counting) * percent / 100)
    if wanted == len(counting):
        return set(names)
    last = sorted(counting, key=_rank)[wanted - 1]
    return {name for name in names if _rank(name) <= _rank(last)}


def _rank(name: str) -> tuple[int, str]:
    return key_of(name), name


def is_active(fleet: Fleet, cluster: str) -> bool:
    """Whether Flux reconciles anything on the cluster; nothing waits for other clusters."""
    return fleet.clusters[cluster].state == "active"
