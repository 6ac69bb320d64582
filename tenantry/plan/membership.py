"""Which wave each object of an environment belongs to.

An object for a cluster belongs to the cluster's wave in the environment's rollout. The Kustomization or HelmRelease of an app
with a rollout of its own belongs to that one, and with it what no other app takes: its source, chart, Secrets, ConfigMaps and
image automation. Notifications change nothing on a cluster, so they belong to no wave. What prepares a cluster for an app whose
rollout is off belongs to no wave either, or the app would wait with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

from tenantry.kube.kinds import group_of
from tenantry.kube.objects import KubeObject, ObjectId, labels_of
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.waves import Rollout, Wave, rollout_name

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
    by_name = {each.name: each for each in rollouts}
    waves = {each.name: each.by_cluster() for each in rollouts}
    every = tuple(apps)
    chains = _chains(objects, every, {*by_name, *off})
    free = _free(objects, every, chains, off)
    found: dict[ObjectId, Member] = {}
    needed: dict[ObjectId, Wave] = {}
    for each in reversed(objects):
        if each.id in free:
            continue
        cluster = each.owner.cluster
        # An object that several clusters share has no cluster of its own: the first wave that needs it changes it.
        there = waves[ENVIRONMENTS].get(cluster) if cluster else needed.get(each.id)
        _pass_on(each, there, needed)
        chain = chains.get(each.id, ENVIRONMENTS)
        wave = there if chain == ENVIRONMENTS else waves.get(chain, {}).get(cluster)
        if wave and group_of(each.id.api_version) != _NOTIFICATIONS:
            found[each.id] = (by_name[chain], wave)
    return found


def _pass_on(user: KubeObject, wave: Wave | None, needed: dict[ObjectId, Wave]) -> None:
    for other in user.depends_on if wave else ():
        if wave and (other not in needed or wave.number < needed[other].number):
            needed[other] = wave


def _chains(objects: Sequence[KubeObject], apps: Iterable[PlannedApp], own: set[str]) -> dict[ObjectId, str]:
    """The rollouts, by name, of the objects that do not follow the environment's."""
    found = {each.id: name for each in apps if (name := rollout_name(each.tenant, each.name)) in own}
    if not found:
        return {}
    users: dict[ObjectId, set[str]] = {}
    for each in reversed(objects):
        if group_of(each.id.api_version) == _IMAGES:
            found[each.id] = rollout_name(each.owner.tenant, labels_of(each.manifest).get(APP_LABEL, ""))
        elif _is_taken(each.id) and len(mine := users.get(each.id, set())) == 1:
            found[each.id] = next(iter(mine))
        if group_of(each.id.api_version) != _NOTIFICATIONS:
            for other in each.depends_on:
                users.setdefault(other, set()).add(found.get(each.id, ENVIRONMENTS))
    return {id: name for id, name in found.items() if name in own}


def _free(
    objects: Sequence[KubeObject], apps: Iterable[PlannedApp], chains: Mapping[ObjectId, str], off: frozenset[str]
) -> set[ObjectId]:
    """Namespaces, accounts, baselines and the like that apps need whose rollout is off. Other apps, and what apps share, stay."""
    others = {each.id for each in apps}
    found: set[ObjectId] = set()
    for each in reversed(objects) if off else ():
        if each.id in found or chains.get(each.id) in off:
            found.update(other for other in each.depends_on if other not in others and not _is_taken(other))
    return found


def _is_taken(id: ObjectId) -> bool:
    """Whether apps take the object, so that it can belong to one of them alone."""
    return id.kind in ("Secret", "ConfigMap") or group_of(id.api_version) == _SOURCES


def circle(objects: Iterable[KubeObject], found: Mapping[ObjectId, Member]) -> list[ObjectId]:
    """Objects that would wait for each other, because an object waits for the wave before its own; empty: none do."""
    sorter: TopologicalSorter[Hashable] = TopologicalSorter()
    for each in objects:
        sorter.add(each.id, *each.depends_on)
        if member := found.get(each.id):
            rollout, wave = member
            sorter.add(each.id, (rollout.name, wave.number - 1))
            sorter.add((rollout.name, wave.number), each.id, (rollout.name, wave.number - 1))
    for rollout in {rollout.name: rollout for rollout, _ in found.values()}.values():
        for wave in rollout.waves:
            sorter.add((rollout.name, wave.number), (rollout.name, wave.number - 1))
    try:
        sorter.prepare()
    except CycleError as error:
        # What comes first is waited for; the first is repeated at the end.
        return [each for each in reversed(error.args[1][1:]) if isinstance(each, ObjectId)]
    return []
