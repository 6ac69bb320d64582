"""The waves of an environment: which clusters each takes, and which wave each planned object belongs to.

An object for a cluster belongs to the cluster's wave. What clusters share beside their kubeconfigs belongs to no wave: apps move to
it in theirs. Secrets reach all clusters at once, and so does what is of no tenant and no add-on. Notifications change nothing on a
cluster, so they belong to no wave. An app with `waves: false` belongs to none, and
with it what no other app takes: its source, chart, Secrets and ConfigMaps. What prepares a cluster for such an app belongs to no
wave either, or the app would wait with it.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.kube.names import PLATFORM, app_name
from tenantry.kube.objects import KubeObject, ObjectId, group_of, is_of_flux
from tenantry.messages.errors import Path
from tenantry.messages.text import counted, listed, printable
from tenantry.model import After as DeclaredAfter
from tenantry.model import RolloutWave
from tenantry.model.durations import seconds_of
from tenantry.model.scalars import share_of
from tenantry.rollout.model import Tolerate

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
    """A chain of waves."""

    waves: tuple[Wave, ...]

    def by_cluster(self) -> dict[str, Wave]:
        """The wave of each cluster."""
        return {name: wave for wave in self.waves for name in wave.every}

    def name_of(self, wave: Wave) -> str:
        """Such as: wave 2 of 3 (early)"""
        number = f"wave {wave.number}"
        if len(self.waves) == 1:
            return printable(wave.name)
        return f"{number} of {len(self.waves)}{'' if wave.name == number else f' ({printable(wave.name)})'}"

    def __str__(self) -> str:
        return format_waves(counted(len(self.waves), "wave"), [wave.every for wave in self.waves])


def format_waves(which: str, clusters: Sequence[Sequence[str]]) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479. Args: clusters: of each wave."""
    first, *others = clusters
    more = "".join(f", then {len(names)}" for names in others)
    return f"in {which}: {counted(len(first), 'cluster')} ({listed(first)}){more}"


@dataclass(frozen=True, slots=True)
class After:
    """A wave before the first. environment: the one before. soak: how long it has to have been ready, as written; "": ready is
    enough.
    """

    environment: str
    soak: str = ""

    @property
    def seconds(self) -> float:
        return seconds_of(self.soak)

    def __str__(self) -> str:
        """As a value in a difference: `dev`, or `dev (soak 1h)`."""
        return f"{self.environment} (soak {self.soak})" if self.soak else self.environment

    def format_gate(self) -> str:
        """Such as: changes of apps wait until dev runs them and has been ready for 1h."""
        ready = f"has been ready for {self.soak}" if self.soak else "is ready"
        return f"changes of apps wait until {self.environment} runs them and {ready}"


def after_of(fleet: Fleet, environment: str) -> After | None:
    """The gate of an environment; None: it has none."""
    declared = fleet.environments[environment].after
    if isinstance(declared, DeclaredAfter):
        return After(declared.environment, declared.soak or "")
    return After(declared) if declared else None


# --- which clusters each wave takes -----------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """The clusters that one wave takes, in the order of the file. at: where the wave is written."""

    wave: RolloutWave
    clusters: tuple[str, ...]
    at: Path


def drawn(fleet: Fleet, environment: str) -> tuple[Drawn, ...]:
    """The waves of an environment over its clusters; none without `waves`.

    Waves that choose by themselves, such as by name, take theirs first, so that a share of the rest cannot take what another wave
    names. What two waves name is in both; a rule refuses that.
    """
    waves, clusters = fleet.environments[environment].waves or [], list(clusters_of(fleet, environment))
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
            share = set(rest) if wave.all else _share(fleet, rest, wave.percent or 0)
            mine = tuple(name for name in rest if name in share)
            rest = [name for name in rest if name not in share]
        result.append(Drawn(wave, mine, (*at, index)))
    return tuple(result)


def _share(fleet: Fleet, names: Sequence[str], percent: int) -> set[str]:
    """The first in the order of the hashes of their names.

    A wave of what is paused would prove nothing, so the share is counted among the others, if there are any.
    """
    counting = [name for name in names if _is_active(fleet, name)] or list(names)
    wanted = math.ceil(len(counting) * percent / 100)
    if wanted == len(counting):
        return set(names)
    last = sorted(map(_rank, counting))[wanted - 1]
    return {name for name in names if _rank(name) <= last}


def _rank(name: str) -> tuple[int, str]:
    """Follows from the name alone, by 64 bits of its hash, and stays the same from run to run."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"), name


def _is_active(fleet: Fleet, cluster: str) -> bool:
    """Whether Flux reconciles anything on the cluster; nothing waits for other clusters."""
    return fleet.clusters[cluster].state == "active"


def rollout_of(fleet: Fleet, environment: str) -> Rollout | None:
    """None: the environment has no waves, or no clusters."""
    waves: list[Wave] = []
    for wave, clusters, _ in drawn(fleet, environment):
        if not clusters:
            continue  # the rest may be empty
        number = len(waves) + 1
        active = tuple(sorted(name for name in clusters if _is_active(fleet, name)))
        left_out = tuple(sorted({*clusters} - {*active}))
        tolerance = _tolerance(wave.tolerate or fleet.environments[environment].tolerate, len(active))
        soak = math.ceil(seconds_of(wave.soak or ""))
        waves.append(Wave(number, wave.name or f"wave {number}", active, left_out, soak, tolerance))
    return Rollout(tuple(waves)) if waves else None


def _tolerance(declared: Tolerate, clusters: int) -> Tolerance:
    """The numbers for a wave of so many clusters. Shares are rounded down."""
    failed, unreachable = (share_of(limit, clusters) for limit in (declared.failed, declared.unreachable))
    written = f"failed {declared.failed}, unreachable {declared.unreachable}"
    if declared.failed == declared.unreachable:
        written = str(declared.failed) if declared.failed else ""
    return Tolerance(failed, unreachable, written)


# --- which wave each object belongs to ----------------------------------------------------------------------------------


def apps_at_once(fleet: Fleet) -> Iterator[str]:
    """The full names of the apps and add-ons that keep out of the waves."""
    for at, app in walk.apps(fleet):
        if app.waves is False:
            yield app_name(at[1] if at[0] == "tenants" else "", at[-1])


def members(
    objects: Sequence[KubeObject], apps: Mapping[ObjectId, str], rollout: Rollout | None, off: AbstractSet[str]
) -> dict[ObjectId, Wave]:
    """The wave of every object that belongs to one.

    objects: dependencies come before what depends on them. apps: their full names. off: those that are in no wave.
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


def _at_once(objects: Sequence[KubeObject], apps: Mapping[ObjectId, str], off: AbstractSet[str]) -> set[ObjectId]:
    """The apps that are off, what no other app takes of what they take, and what prepares a cluster for them: namespaces, accounts,
    baselines and the like. Other apps, and what apps share, stay in their waves.
    """
    ids: set[ObjectId] = set()
    if off.isdisjoint(apps.values()):
        return ids
    subjects = subjects_of(objects, apps)
    for planned in reversed(objects):
        if {*subjects[planned.id]} <= off:
            ids.add(planned.id)
        if planned.id in ids:
            ids.update(id for id in planned.depends_on if id not in apps and not is_taken(id))
    return ids


def subjects_of(objects: Sequence[KubeObject], apps: Mapping[ObjectId, str]) -> dict[ObjectId, tuple[str, ...]]:
    """The subjects of each object: the app that it is, the apps that take it, or the tenant or the platform.

    objects, apps: as of `members`.
    """
    users: dict[ObjectId, dict[str, None]] = defaultdict(dict)
    subjects: dict[ObjectId, tuple[str, ...]] = {}
    for planned in reversed(objects):
        taking = tuple(users.get(planned.id, ())) if is_taken(planned.id) else ()
        name = apps.get(planned.id)
        subjects[planned.id] = (name,) if name else taking or (planned.owner.tenant or PLATFORM,)
        # A receiver that has a source fetched takes nothing from it.
        for id in planned.depends_on if group_of(planned.id.api_version) != _NOTIFICATIONS else ():
            users[id].update(dict.fromkeys(subjects[planned.id]))
    return subjects


def is_taken(id: ObjectId) -> bool:
    """Whether apps take the object, so that it can belong to one of them alone."""
    return id.kind in ("Secret", "ConfigMap") or group_of(id.api_version) == _SOURCES
