"""The waves of an environment's rollouts, and which wave each planned object belongs to.

An object for a cluster belongs to the cluster's wave in the environment's rollout; if that one is by tenants, an object of a
tenant to the tenant's. The Kustomization or HelmRelease of an app
with a rollout of its own belongs to that one, and with it what no other app takes: its source, chart, Secrets, ConfigMaps and
image automation. What clusters share beside their kubeconfigs belongs to no wave: apps move to it in theirs. Notifications change
nothing on a cluster, so they belong to no wave. What prepares a cluster for an app whose rollout is off belongs to no wave
either, or the app would wait with it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeAlias

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import variables_of
from tenantry.kube.objects import KubeObject, ObjectId, Owner, group_of
from tenantry.messages.text import counted, listed, printable
from tenantry.model import Rollout as Declared
from tenantry.model.durations import seconds_of
from tenantry.model.scalars import share_of
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.check_texts import check_names, check_variables, filled, texts_of
from tenantry.rollout.drawing import (
    Drawn,
    drawn,
    environment_rollout,
    name_of_app,
    own_rollouts,
    rollout_at,
    rollout_name,
    units_of,
)
from tenantry.rollout.model import By, Tolerate

_MOST_COUNTS = 5


@dataclass(frozen=True, slots=True)
class Check:
    """What has to hold after a wave, with its placeholders filled in. query: of Prometheus; "": the address has to answer."""

    name: str
    url: str
    query: str = ""
    below: float | None = None
    above: float | None = None


class Tolerance(NamedTuple):
    """How many clusters or tenants of a wave may fail, and how many may be unreachable. written: as messages say it; "": none."""

    failed: int = 0
    unreachable: int = 0
    written: str = ""


NOTHING = Tolerance()


@dataclass(frozen=True, slots=True)
class Wave:
    """Clusters that change together, or tenants if the rollout is by tenants. number: from 1; name: as written, or `wave 2`.

    units: those that the next wave waits for, sorted. left_out: what is paused or leaves, so nothing waits for it.
    soak: seconds for which the next wave waits after this one was good. groups: of which one approves, before it begins.
    checks: asked after it. tolerate: how many units may go wrong.
    """

    number: int
    name: str
    units: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    soak: int = 0
    groups: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    tolerate: Tolerance = NOTHING

    @property
    def every(self) -> tuple[str, ...]:
        """All clusters or tenants of the wave, sorted."""
        return tuple(sorted((*self.units, *self.left_out)))


@dataclass(frozen=True, slots=True)
class Rollout:
    """A chain of waves. name: "" for the environment's, `rocky/web` for an app's own, `addon dns` for an add-on's own,
    `class:small/web` for that of an app of a class.

    timeout: seconds. max_parallel: None: all of a wave change at the same time. apps: those whose own rollout it is, as of
    `rollout_name`. unreachable_after: seconds after which a cluster that Flux does not reach counts as unreachable.
    """

    name: str
    waves: tuple[Wave, ...]
    timeout: int
    max_parallel: int | None = None
    by: By = "clusters"
    apps: tuple[str, ...] = ()
    unreachable_after: int = 120

    @property
    def noun(self) -> str:
        """What its waves consist of."""
        return "tenant" if self.by == "tenants" else "cluster"

    def unit_of(self, owner: Owner) -> str:
        """Which cluster or tenant of its waves an object counts for; "": several share it."""
        return owner.tenant if self.by == "tenants" else owner.cluster

    def by_unit(self) -> dict[str, Wave]:
        """The wave of each cluster or tenant that this rollout reaches."""
        return {name: wave for wave in self.waves for name in (*wave.units, *wave.left_out)}


def own_by_app(rollouts: Iterable[Rollout]) -> dict[str, Rollout]:
    """The rollouts of apps themselves, by the names of these apps, as of `rollout_name`."""
    return {app: rollout for rollout in rollouts for app in rollout.apps}


def wave_name(rollout: Rollout, wave: Wave) -> str:
    """`wave 2 of 3 (early)`, after the app whose own rollout it is."""
    number = f"wave {wave.number}"
    name = "" if wave.name == number else f" ({printable(wave.name)})"
    whose = f"{rollout.name}: " if rollout.name else ""
    return f"{whose}{number} of {len(rollout.waves)}{name}"


def in_words(rollout: Rollout) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479."""
    if not rollout.waves:
        return "in no waves: no tenant is there"
    first, *others = (wave.every for wave in rollout.waves)
    units = f"{counted(len(first), rollout.noun)} ({listed(first)}){then(map(len, others))}"
    return f"{f'{rollout.name}: ' if rollout.name else ''}in {counted(len(rollout.waves), 'wave')}: {units}"


def then(counts: Iterable[int]) -> str:
    """What the waves after the first have, such as: `, then 20, then 479`. Those of many waves are not all listed."""
    every = list(counts)
    shown = every if len(every) <= _MOST_COUNTS else every[: _MOST_COUNTS - 1]
    left = len(every) - len(shown)
    return "".join(f", then {each}" for each in shown) + (f", then {left} more waves" if left else "")


def rollouts_of(fleet: Fleet, environment: str) -> tuple[tuple[Rollout, ...], frozenset[str]]:
    """The environment's rollout and those of its apps, and the names of the apps for which it is off.

    A rollout of an environment without clusters is none; one by tenants has no waves before there is a tenant.
    An app's own rollout replaces the environment's, so without that one there is none.
    """
    declared = environment_rollout(fleet, environment)
    if declared is None:
        return (), frozenset()
    units = units_of(fleet, environment, declared)
    waves = _Waves(fleet, environment)
    found = [waves.rollout("", declared, units, drawn(fleet, declared, units, rollout_at(fleet, environment)))]
    if not found[0].waves and declared.by == "clusters":
        return (), frozenset()
    off = set()
    for own in own_rollouts(fleet):
        if own.declared.disabled:
            off.add(own.name)
        elif units := units_of(fleet, environment, own.declared, own.apps):
            apps = tuple(map(name_of_app, own.apps))
            found.append(waves.rollout(own.name, own.declared, units, drawn(fleet, own.declared, units, own.at), apps))
    return (found[0], *(each for each in found[1:] if each.waves)), frozenset(off)


@dataclass(frozen=True, slots=True)
class _Waves:
    fleet: Fleet
    environment: str

    def rollout(
        self,
        name: str,
        declared: Declared,
        units: Mapping[str, bool],
        every: Iterable[Drawn],
        apps: tuple[str, ...] = (),
    ) -> Rollout:
        waves = tuple(self._waves(declared, units, every))
        seconds = math.ceil(seconds_of(declared.timeout))
        patience = math.ceil(seconds_of(declared.unreachableAfter))
        return Rollout(name, waves, seconds, declared.maxParallel, declared.by, apps, patience)

    def _waves(self, declared: Declared, units: Mapping[str, bool], every: Iterable[Drawn]) -> Iterator[Wave]:
        """Those that take anything. An app is not on all clusters, so that some of its waves may take none."""
        for number, each in enumerate((each for each in every if each.units), 1):
            active = tuple(sorted(name for name in each.units if units[name]))
            left_out = tuple(sorted(name for name in each.units if not units[name]))
            yield Wave(
                number,
                each.wave.name or f"wave {number}",
                active,
                left_out,
                math.ceil(seconds_of(each.wave.soak or "")),
                tuple(each.wave.approval.groups if each.wave.approval else ()),
                tuple(dict.fromkeys(self._checks(declared, active))),
                _tolerance(each.wave.tolerate or declared.tolerate, len(active)),
            )

    def _checks(self, declared: Declared, units: tuple[str, ...]) -> Iterator[Check]:
        """The checks of a wave: one with a placeholder of clusters for each of them."""
        shared = check_variables(self.fleet, self.environment, declared.by, units)
        for name, each in declared.checks.items():
            url, query = texts_of(each)
            of_clusters = declared.by == "clusters" and not {*check_names(url), *check_names(query)} <= shared.keys()
            for unit in units if of_clusters else ("",):
                values = {**variables_of(self.fleet, self.environment, unit), **shared} if unit else shared
                limits = (each.prometheus.below, each.prometheus.above) if each.prometheus else (None, None)
                yield Check(name, filled(url, values), filled(query, values), *limits)


def _tolerance(declared: Tolerate, units: int) -> Tolerance:
    """The numbers for a wave of so many units. Shares are rounded down."""
    failed, unreachable = (share_of(limit, units) for limit in (declared.failed, declared.unreachable))
    written = f"failed {declared.failed}, unreachable {declared.unreachable}"
    if declared.failed == declared.unreachable:
        written = str(declared.failed) if declared.failed else ""
    return Tolerance(failed, unreachable, written)


def check_names_of(wave: Wave) -> tuple[str, ...]:
    """The names of the checks of a wave."""
    return tuple(dict.fromkeys(check.name for check in wave.checks))


ENVIRONMENTS = ""
"""The name of the environment's rollout."""
Member: TypeAlias = tuple[Rollout, Wave]
_NOTIFICATIONS, _SOURCES = (f"{name}.toolkit.fluxcd.io" for name in ("notification", "source"))


def members(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], rollouts: Sequence[Rollout], off: frozenset[str]
) -> dict[ObjectId, Member]:
    """The wave of every object that belongs to one.

    objects: dependencies come before what depends on them. off: the names of the apps for which the rollout is off.
    """
    if not rollouts:
        return {}
    environments, by_app = rollouts[0], own_by_app(rollouts)
    waves = {rollout.name: rollout.by_unit() for rollout in rollouts}
    planned_apps = tuple(apps)
    own = _names_of_own_rollouts(objects, planned_apps, {*by_app, *off})
    exempt = _exempt_objects(objects, planned_apps, own, off)
    found: dict[ObjectId, Member] = {}
    needed_in: dict[ObjectId, Wave] = {}
    for planned in reversed(objects):
        # What clusters take together is there before the first of them moves to it.
        if planned.id in exempt or (not planned.owner.cluster and is_taken(planned.id)):
            continue
        unit = environments.unit_of(planned.owner)
        # An object that several share has no wave of its own: the first wave that needs it changes it.
        there = waves[ENVIRONMENTS].get(unit) if unit else needed_in.get(planned.id)
        if there:
            _note_wave_of_user(planned, there, needed_in)
        rollout = by_app.get(own.get(planned.id, ""), environments)
        wave = there if rollout is environments else waves[rollout.name].get(rollout.unit_of(planned.owner))
        if own.get(planned.id) in off:
            continue
        if wave and group_of(planned.id.api_version) != _NOTIFICATIONS:
            found[planned.id] = (rollout, wave)
    return found


def _note_wave_of_user(user: KubeObject, wave: Wave, needed_in: dict[ObjectId, Wave]) -> None:
    """What an object depends on is needed in the earliest wave of its users."""
    for dependency in user.depends_on:
        if dependency not in needed_in or wave.number < needed_in[dependency].number:
            needed_in[dependency] = wave


def _names_of_own_rollouts(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], own: Collection[str]
) -> dict[ObjectId, str]:
    """The apps, by the names in own, whose objects do not follow the environment's rollout. own: the apps with one of theirs."""
    found = {app.id: name for app in apps if (name := rollout_name(app.tenant, app.name)) in own}
    if not found:
        return {}
    rollouts_of_users: dict[ObjectId, set[str]] = {}
    for planned in reversed(objects):
        if is_taken(planned.id) and len(names := rollouts_of_users.get(planned.id, set())) == 1:
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
            found.update(id for id in planned.depends_on if id not in of_apps and not is_taken(id))
    return found


def is_taken(id: ObjectId) -> bool:
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
