"""The waves of an environment's rollouts, and which wave each planned object belongs to.

An object for a cluster belongs to the cluster's wave in the environment's rollout. The Kustomization or HelmRelease of an app
with a rollout of its own belongs to that one, and with it what no other app takes: its source, chart, Secrets, ConfigMaps and
image automation. What clusters share beside their kubeconfigs belongs to no wave: apps move to it in theirs. Notifications change
nothing on a cluster, so they belong to no wave. What prepares a cluster for an app whose rollout is off belongs to no wave
either, or the app would wait with it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import clusters_of_app
from tenantry.kube.objects import KubeObject, ObjectId, group_of, labels_of
from tenantry.messages.errors import Path
from tenantry.messages.text import counted, listed, printable
from tenantry.model import Rollout as Declared
from tenantry.model.scalars import seconds_of
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.drawing import Drawn, drawn, environment_rollout, is_active, own_rollouts, rollout_at

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


def wave_name(rollout: Rollout, wave: Wave) -> str:
    """`wave 2 of 3 (early)`, after the app whose own rollout it is."""
    number = f"wave {wave.number}"
    name = "" if wave.name == number else f" ({printable(wave.name)})"
    whose = f"{rollout.name}: " if rollout.name else ""
    return f"{whose}{number} of {len(rollout.waves)}{name}"


def in_words(rollout: Rollout) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479."""
    first, *others = (wave.every for wave in rollout.waves)
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


ENVIRONMENTS = ""
"""The name of the environment's rollout."""
Member: TypeAlias = tuple[Rollout, Wave]
_IMAGES, _NOTIFICATIONS, _SOURCES = (f"{name}.toolkit.fluxcd.io" for name in ("image", "notification", "source"))


def members(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], rollouts: Sequence[Rollout], off: frozenset[str]
) -> dict[ObjectId, Member]:
    """The wave of every object that belongs to one.

    objects: dependencies come before what depends on them. off: the names of the apps for which the rollout is off.
    """
    if not rollouts:
        return {}
    rollouts_by_name = {rollout.name: rollout for rollout in rollouts}
    waves = {rollout.name: rollout.by_cluster() for rollout in rollouts}
    planned_apps = tuple(apps)
    own = _names_of_own_rollouts(objects, planned_apps, {*rollouts_by_name, *off})
    exempt = _exempt_objects(objects, planned_apps, own, off)
    found: dict[ObjectId, Member] = {}
    needed_in: dict[ObjectId, Wave] = {}
    for planned in reversed(objects):
        cluster = planned.owner.cluster
        # What clusters take together is there before the first of them moves to it.
        if planned.id in exempt or (not cluster and _is_taken(planned.id)):
            continue
        # An object that several clusters share has no cluster of its own: the first wave that needs it changes it.
        there = waves[ENVIRONMENTS].get(cluster) if cluster else needed_in.get(planned.id)
        if there:
            _note_wave_of_user(planned, there, needed_in)
        name = own.get(planned.id, ENVIRONMENTS)
        wave = there if name == ENVIRONMENTS else waves.get(name, {}).get(cluster)
        if wave and group_of(planned.id.api_version) != _NOTIFICATIONS:
            found[planned.id] = (rollouts_by_name[name], wave)
    return found


def _note_wave_of_user(user: KubeObject, wave: Wave, needed_in: dict[ObjectId, Wave]) -> None:
    """What an object depends on is needed in the earliest wave of its users."""
    for dependency in user.depends_on:
        if dependency not in needed_in or wave.number < needed_in[dependency].number:
            needed_in[dependency] = wave


def _names_of_own_rollouts(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], own: set[str]
) -> dict[ObjectId, str]:
    """The rollouts, by name, of the objects that do not follow the environment's. own: the names of apps with a rollout."""
    found = {app.id: name for app in apps if (name := rollout_name(app.tenant, app.name)) in own}
    if not found:
        return {}
    rollouts_of_users: dict[ObjectId, set[str]] = {}
    for planned in reversed(objects):
        if group_of(planned.id.api_version) == _IMAGES:
            found[planned.id] = rollout_name(planned.owner.tenant, labels_of(planned.manifest).get(APP_LABEL, ""))
        elif _is_taken(planned.id) and len(names := rollouts_of_users.get(planned.id, set())) == 1:
            found[planned.id] = next(iter(names))
        if group_of(planned.id.api_version) != _NOTIFICATIONS:
            for dependency in planned.depends_on:
                rollouts_of_users.setdefault(dependency, set()).add(found.get(planned.id, ENVIRONMENTS))
    return {id: name for id, name in found.items() if name in own}


def _exempt_objects(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], own: Mapping[ObjectId, str], off: frozenset[str]
) -> set[ObjectId]:
    """Namespaces, accounts, baselines and the like that apps need whose rollout is off. Other apps, and what apps share, stay."""
    of_apps = {app.id for app in apps}
    found: set[ObjectId] = set()
    for planned in reversed(objects) if off else ():
        if planned.id in found or own.get(planned.id) in off:
            found.update(id for id in planned.depends_on if id not in of_apps and not _is_taken(id))
    return found


def _is_taken(id: ObjectId) -> bool:
    """Whether apps take the object, so that it can belong to one of them alone."""
    return id.kind in ("Secret", "ConfigMap") or group_of(id.api_version) == _SOURCES


def dependency_cycle(objects: Iterable[KubeObject], members: Mapping[ObjectId, Member]) -> list[ObjectId]:
    """Objects that would wait for each other, because an object waits for the wave before its own; empty: none do."""
    sorter: TopologicalSorter[Hashable] = TopologicalSorter()
    for planned in objects:
        sorter.add(planned.id, *planned.depends_on)
        if member := members.get(planned.id):
            rollout, wave = member
            sorter.add(planned.id, (rollout.name, wave.number - 1))
            sorter.add((rollout.name, wave.number), planned.id, (rollout.name, wave.number - 1))
    for rollout in {rollout.name: rollout for rollout, _ in members.values()}.values():
        for wave in rollout.waves:
            sorter.add((rollout.name, wave.number), (rollout.name, wave.number - 1))
    try:
        sorter.prepare()
    except CycleError as error:
        # What comes first is waited for; the first is repeated at the end.
        return [waiting for waiting in reversed(error.args[1][1:]) if isinstance(waiting, ObjectId)]
    return []
