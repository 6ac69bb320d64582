"""Which rollout an environment and its apps have, and which clusters or tenants each wave takes.

Called by: the plan, the rules about rollouts, and `explain`, so that all of them agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tenantry.fleet.classes import CLASSES, classes_above
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.flux_shards import key_of
from tenantry.fleet.placement import clusters_of_app, is_placed
from tenantry.messages.errors import Path
from tenantry.model import App, Rollout, RolloutWave


@dataclass(frozen=True, slots=True)
class Drawn:
    """The clusters that one wave takes, or its tenants, in the order of the file. at: where the wave is written."""

    wave: RolloutWave
    units: tuple[str, ...]
    at: Path


@dataclass(frozen=True, slots=True)
class OwnRollout:
    """A rollout of an add-on, of an app, or of an app of a class `by: tenants`: then it is one for all of these tenants.

    name: see `waves.Rollout`. apps: the paths of those that it decides about. at: where its waves are written.
    """

    name: str
    declared: Rollout
    apps: tuple[tuple[str, ...], ...]
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


def rollout_name(tenant: str, app: str) -> str:
    """What the own rollout of an app, or of an add-on with the tenant "", is called."""
    return f"{tenant}/{app}" if tenant else f"addon {app}"


def name_of_app(at: Sequence[str]) -> str:
    """The same, of the app or add-on at a path."""
    return rollout_name(at[1] if at[0] == "tenants" else "", at[-1])


def own_rollouts(fleet: Fleet) -> tuple[OwnRollout, ...]:
    """The rollouts of apps and add-ons themselves; also those that are off."""
    found: tuple[OwnRollout, ...] | None = fleet.shared.get("own rollouts")
    if found is None:
        found = fleet.shared["own rollouts"] = tuple(_own_rollouts(fleet))
    return found


def approving_groups(fleet: Fleet, environment: str) -> tuple[str, ...]:
    """The groups that approve waves of an environment, or of its apps."""
    if not (found := environment_rollout(fleet, environment)):
        return ()
    every = (found, *(own.declared for own in own_rollouts(fleet)))
    waves = (wave for rollout in every for wave in rollout.waves or () if wave.approval)
    return tuple(sorted({group for wave in waves if wave.approval for group in wave.approval.groups}))


def _own_rollouts(fleet: Fleet) -> Iterator[OwnRollout]:
    by_tenants: dict[Path, list[tuple[str, ...]]] = {}
    declared: dict[Path, Rollout] = {}
    for at, app in _apps(fleet):
        if app.rollout is None:
            continue
        written: Path = (*at, "rollout")
        if app.rollout.by == "tenants" and app.rollout.waves:
            written = fleet.source.origin((*written, "waves"))[:-1]
            by_tenants.setdefault(written, []).append(at)
            declared.setdefault(written, app.rollout)
        else:
            yield OwnRollout(name_of_app(at), app.rollout, (at,), written)
    for written, apps in by_tenants.items():
        of_class = written[0] == CLASSES
        name = f"class:{written[1]}/{written[3]}" if of_class else name_of_app(apps[0])
        yield OwnRollout(name, declared[written], tuple(apps), written)


def _apps(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], App]]:
    for tenant, declared in fleet.document.tenants.items():
        yield from ((("tenants", tenant, "apps", name), app) for name, app in declared.apps.items())
    for name, addon in fleet.document.platform.addons.items():
        yield ("platform", "addons", name), addon


def units_of(fleet: Fleet, environment: str, rollout: Rollout, apps: Sequence[tuple[str, ...]] = ()) -> dict[str, bool]:
    """The clusters, or the tenants, that a rollout reaches in an environment, and whether Flux reconciles anything there.

    apps: the paths of those whose own rollout it is; none: it is the environment's.
    """
    if rollout.by == "clusters":
        clusters = clusters_of_app(fleet, environment, apps[0]) if apps else clusters_of(fleet, environment)
        return {name: is_active(fleet, name) for name in clusters}
    if apps:
        placed = {
            tenant: (clusters, fleet.document.tenants[tenant].apps[app].state)
            for kind, tenant, _, app in (each for each in apps if each[0] == "tenants")
            if (clusters := clusters_of_app(fleet, environment, (kind, tenant, "apps", app)))
        }
    else:
        there = clusters_of(fleet, environment)
        placed = {
            name: (clusters, "active")
            for name in fleet.document.tenants
            if (clusters := [each for each in there if is_placed(fleet, environment, name, each)])
        }
    return {
        name: {fleet.document.tenants[name].state, state} == {"active"}
        and any(is_active(fleet, each) for each in clusters)
        for name, (clusters, state) in placed.items()
    }


def drawn(fleet: Fleet, rollout: Rollout, units: Mapping[str, bool], at: Path) -> tuple[Drawn, ...]:
    """The waves of a rollout over some clusters or tenants.

    Waves that choose by themselves, such as by name, take theirs first, so that a share of the rest cannot take what another wave
    names. What two waves name is in both; a rule refuses that.
    units: as of `units_of`. at: where the rollout is written.
    """
    waves = rollout.waves or []
    by_tenants = rollout.by == "tenants"
    named = list(_tenants_named(fleet, waves, units) if by_tenants else _clusters_named(fleet, waves, units))
    taken = {name for each in named for name in each}
    rest = [name for name in units if name not in taken]
    first = {name: name for name in rest} if by_tenants else {}
    found = []
    for index, (wave, mine) in enumerate(zip(waves, named, strict=True)):
        if wave.all or wave.percent is not None:
            left = [name for name in rest if by_tenants or wave.selector.takes(name, fleet.clusters[name].labels)]
            share = set(left) if wave.all else _share(units, left, wave.percent or 0, first)
            mine = tuple(name for name in rest if name in share)
            rest = [name for name in rest if name not in share]
        found.append(Drawn(wave, mine, (*at, "waves", index)))
    return tuple(found)


def _clusters_named(fleet: Fleet, waves: Iterable[RolloutWave], units: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """What each wave takes by itself. A wave may hold keys of the other kind of rollout, which a rule refuses."""
    for wave in waves:
        names = units if wave.names or wave.labels else ()
        yield tuple(name for name in names if wave.selector.takes(name, fleet.clusters[name].labels))


def _tenants_named(fleet: Fleet, waves: Sequence[RolloutWave], units: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The same of tenants: a name counts for more than a class."""
    by_name = {name for wave in waves for name in wave.tenants or ()}
    for wave in waves:
        names, classes = set(wave.tenants or ()), set(wave.classes)
        yield tuple(
            name
            for name in units
            if name in names
            or (classes and name not in by_name and classes & classes_above(fleet.source, name, "tenants"))
        )


def _share(units: Mapping[str, bool], names: Sequence[str], percent: int, first: Mapping[str, str]) -> set[str]:
    """The first in the order of the hashes of their names. first: the oldest names of those that had others.

    A wave of what is paused would prove nothing, so the share is counted among the others, if there are any.
    """
    counting = [name for name in names if units[name]] or list(names)
    wanted = math.ceil(len(counting) * percent / 100)
    if wanted == len(counting):
        return set(names)
    ranks = {name: _rank(first.get(name, name)) for name in names}
    last = sorted(ranks[name] for name in counting)[wanted - 1]
    return {name for name in names if ranks[name] <= last}


def _rank(name: str) -> tuple[int, str]:
    return key_of(name), name


def is_active(fleet: Fleet, cluster: str) -> bool:
    """Whether Flux reconciles anything on the cluster; nothing waits for other clusters."""
    return fleet.clusters[cluster].state == "active"
