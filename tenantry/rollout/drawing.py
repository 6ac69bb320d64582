"""Which apps keep out of the waves of an environment, and which clusters each wave takes.

Called by: the plan, the rules about waves, and `explain`, so that all of them agree.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.kube.names import app_name
from tenantry.messages.errors import Path
from tenantry.model import RolloutWave


class Drawn(NamedTuple):
    """The clusters that one wave takes, in the order of the file. at: where the wave is written."""

    wave: RolloutWave
    clusters: tuple[str, ...]
    at: Path


def apps_at_once(fleet: Fleet) -> Iterator[str]:
    """The full names of the apps and add-ons that keep out of the waves."""
    for at, _, name, app in walk.apps(fleet):
        if app.waves is False:
            yield app_name(at[1] if at[0] == "tenants" else "", name)


def states_of(fleet: Fleet, environment: str) -> dict[str, bool]:
    """The clusters of an environment, and whether Flux reconciles anything there."""
    return {name: is_active(fleet, name) for name in clusters_of(fleet, environment)}


def is_active(fleet: Fleet, cluster: str) -> bool:
    """Whether Flux reconciles anything on the cluster; nothing waits for other clusters."""
    return fleet.clusters[cluster].state == "active"


def drawn(fleet: Fleet, environment: str) -> tuple[Drawn, ...]:
    """The waves of an environment over its clusters; none without `waves`.

    Waves that choose by themselves, such as by name, take theirs first, so that a share of the rest cannot take what another wave
    names. What two waves name is in both; a rule refuses that.
    """
    waves, clusters = fleet.environments[environment].waves or [], states_of(fleet, environment)
    at = fleet.declared_at(environment, "waves")
    named = [
        tuple(name for name in clusters if wave.selector.takes(name, fleet.clusters[name].labels))
        if wave.names or wave.labels
        else ()
        for wave in waves
    ]
    taken = {name for names in named for name in names}
    rest = [name for name in clusters if name not in taken]
    result = []
    for index, (wave, mine) in enumerate(zip(waves, named, strict=True)):
        if wave.all or wave.percent is not None:
            share = set(rest) if wave.all else _share(clusters, rest, wave.percent or 0)
            mine = tuple(name for name in rest if name in share)
            rest = [name for name in rest if name not in share]
        result.append(Drawn(wave, mine, (*at, index)))
    return tuple(result)


def _share(clusters: Mapping[str, bool], names: Sequence[str], percent: int) -> set[str]:
    """The first in the order of the hashes of their names.

    A wave of what is paused would prove nothing, so the share is counted among the others, if there are any.
    """
    counting = [name for name in names if clusters[name]] or list(names)
    wanted = math.ceil(len(counting) * percent / 100)
    if wanted == len(counting):
        return set(names)
    last = sorted(map(_rank, counting))[wanted - 1]
    return {name for name in names if _rank(name) <= last}


def _rank(name: str) -> tuple[int, str]:
    """Follows from the name alone, by 64 bits of its hash, and stays the same from run to run."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"), name
