"""The waves of an environment, and which wave each planned object belongs to.

An object for a cluster belongs to the cluster's wave. What clusters share beside their kubeconfigs belongs to no wave: apps move to
it in theirs. Secrets reach all clusters at once, and so does what is of no tenant and no add-on. Notifications change nothing on a
cluster, so they belong to no wave. An app with `waves: false` belongs to none, and
with it what no other app takes: its source, chart, Secrets and ConfigMaps. What prepares a cluster for such an app belongs to no
wave either, or the app would wait with it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.kube.objects import KubeObject, ObjectId, group_of, is_of_flux
from tenantry.messages.text import counted, listed, printable
from tenantry.model.durations import seconds_of
from tenantry.model.scalars import share_of
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.drawing import drawn, states_of
from tenantry.rollout.model import Tolerate

_MOST_COUNTS = 5
_NOTIFICATIONS, _SOURCES = (f"{name}.toolkit.fluxcd.io" for name in ("notification", "source"))


class Tolerance(NamedTuple):
    """How many clusters of a wave may fail, and how many may be unreachable. written: as messages say it; "": none."""

    failed: int = 0
    unreachable: int = 0
    written: str = ""


NOTHING = Tolerance()


@dataclass(frozen=True, slots=True)
class Wave:
    """Clusters that change together. number: from 1; name: as written, or `wave 2`.

    clusters: those that the next wave waits for, sorted. left_out: what is paused or leaves, so nothing waits for it.
    soak: seconds for which the next wave waits after this one was good. tolerate: how many clusters may go wrong.
    """

    number: int
    name: str
    clusters: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    soak: int = 0
    tolerate: Tolerance = NOTHING

    @property
    def every(self) -> tuple[str, ...]:
        """All clusters of the wave, sorted."""
        return tuple(sorted((*self.clusters, *self.left_out)))


@dataclass(frozen=True, slots=True)
class Rollout:
    """A chain of waves. timeout: seconds."""

    waves: tuple[Wave, ...]
    timeout: int

    def by_cluster(self) -> dict[str, Wave]:
        """The wave of each cluster."""
        return {name: wave for wave in self.waves for name in (*wave.clusters, *wave.left_out)}

    def name_of(self, wave: Wave) -> str:
        """Such as: wave 2 of 3 (early)"""
        number = f"wave {wave.number}"
        return f"{number} of {len(self.waves)}{'' if wave.name == number else f' ({printable(wave.name)})'}"

    def __str__(self) -> str:
        """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479"""
        first, *others = (wave.every for wave in self.waves)
        clusters = f"{counted(len(first), 'cluster')} ({listed(first)}){then(map(len, others))}"
        return f"in {counted(len(self.waves), 'wave')}: {clusters}"


def then(counts: Iterable[int]) -> str:
    """What the waves after the first have, such as: `, then 20, then 479`. Those of many waves are not all listed."""
    every = list(counts)
    shown = every if len(every) <= _MOST_COUNTS else every[: _MOST_COUNTS - 1]
    left = len(every) - len(shown)
    return "".join(f", then {wave}" for wave in shown) + (f", then {left} more waves" if left else "")


def rollout_of(fleet: Fleet, environment: str) -> Rollout | None:
    """None: the environment has no waves, or no clusters."""
    waves = tuple(_waves(fleet, environment))
    return Rollout(waves, math.ceil(seconds_of(fleet.environments[environment].timeout))) if waves else None


def _waves(fleet: Fleet, environment: str) -> Iterator[Wave]:
    """Those that take anything: the rest may be empty."""
    states = states_of(fleet, environment)
    taking = (wave for wave in drawn(fleet, environment) if wave.clusters)
    for number, (wave, clusters, _) in enumerate(taking, 1):
        active = tuple(sorted(name for name in clusters if states[name]))
        left_out = tuple(sorted(name for name in clusters if not states[name]))
        soak, tolerate = (
            math.ceil(seconds_of(wave.soak or "")),
            wave.tolerate or fleet.environments[environment].tolerate,
        )
        yield Wave(number, wave.name or f"wave {number}", active, left_out, soak, _tolerance(tolerate, len(active)))


def _tolerance(declared: Tolerate, clusters: int) -> Tolerance:
    """The numbers for a wave of so many clusters. Shares are rounded down."""
    failed, unreachable = (share_of(limit, clusters) for limit in (declared.failed, declared.unreachable))
    written = f"failed {declared.failed}, unreachable {declared.unreachable}"
    if declared.failed == declared.unreachable:
        written = str(declared.failed) if declared.failed else ""
    return Tolerance(failed, unreachable, written)


def members(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], rollout: Rollout | None, off: AbstractSet[str]
) -> dict[ObjectId, Wave]:
    """The wave of every object that belongs to one.

    objects: dependencies come before what depends on them. off: as of a plan.
    """
    if rollout is None:
        return {}
    waves, alone = rollout.by_cluster(), _at_once(objects, apps, off)
    members: dict[ObjectId, Wave] = {}
    needed_in: dict[ObjectId, Wave] = {}
    for planned in reversed(objects):
        # What clusters take together is there before the first of them moves to it.
        if planned.id in alone or (not planned.owner.cluster and is_taken(planned.id)):
            continue
        # An object that several share has no wave of its own: the first wave that needs it changes it.
        wave = waves.get(planned.owner.cluster) if planned.owner.cluster else needed_in.get(planned.id)
        if wave is None:
            continue
        for dependency in planned.depends_on:
            if dependency not in needed_in or wave.number < needed_in[dependency].number:
                needed_in[dependency] = wave
        if not _is_in_no_wave(planned):
            members[planned.id] = wave
    return members


def _is_in_no_wave(planned: KubeObject) -> bool:
    """Whether an object reaches all clusters at once: a rotated Secret waits for no app, nor do what prepares a cluster for all."""
    is_reconciled = planned.id.kind in ("Kustomization", "HelmRelease") and is_of_flux(planned.id.api_version)
    is_platforms = not planned.owner.tenant and not is_reconciled and not is_taken(planned.id)
    return is_platforms or planned.id.kind == "Secret" or group_of(planned.id.api_version) == _NOTIFICATIONS


def _at_once(objects: Sequence[KubeObject], apps: Iterable[PlannedApp], off: AbstractSet[str]) -> set[ObjectId]:
    """The apps that are off, what no other app takes of what they take, and what prepares a cluster for them: namespaces, accounts,
    baselines and the like. Other apps, and what apps share, stay in their waves.
    """
    apps = list(apps) if off else []
    planned_apps = {app.id for app in apps}
    if not any(app.full_name in off for app in apps):
        return set()
    subjects = subjects_of(objects, apps)
    ids: set[ObjectId] = set()
    for planned in reversed(objects):
        if {*subjects[planned.id]} <= off:
            ids.add(planned.id)
        if planned.id in ids:
            ids.update(id for id in planned.depends_on if id not in planned_apps and not is_taken(id))
    return ids


def subjects_of(objects: Sequence[KubeObject], apps: Iterable[PlannedApp]) -> dict[ObjectId, tuple[str, ...]]:
    """The subjects of each object: the app that it is, the apps that take it, or the tenant or the platform.

    objects: dependencies come before what depends on them.
    """
    names = {app.id: app.full_name for app in apps}
    users: dict[ObjectId, dict[str, None]] = defaultdict(dict)
    subjects: dict[ObjectId, tuple[str, ...]] = {}
    for planned in reversed(objects):
        taking = tuple(users.get(planned.id, ())) if is_taken(planned.id) else ()
        name = names.get(planned.id)
        subjects[planned.id] = (name,) if name else taking or (planned.owner.tenant or PLATFORM,)
        # A receiver that has a source fetched takes nothing from it.
        for id in planned.depends_on if group_of(planned.id.api_version) != _NOTIFICATIONS else ():
            users[id].update(dict.fromkeys(subjects[planned.id]))
    return subjects


def is_taken(id: ObjectId) -> bool:
    """Whether apps take the object, so that it can belong to one of them alone."""
    return id.kind in ("Secret", "ConfigMap") or group_of(id.api_version) == _SOURCES
