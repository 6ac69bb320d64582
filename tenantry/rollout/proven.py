"""What on a new cluster does not wait for earlier waves, because one of their clusters runs the same already.

Nothing here reads a cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.after import contents_by
from tenantry.plan.engine_order import is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.parts import parts_of
from tenantry.rollout.readiness import Reconciler
from tenantry.rollout.turns import Turns


class Proven(NamedTuple):
    """An app or a baseline that goes at once if one of some others is ready. ids: its own, and of what it needs that is new too.

    where: as of `Reconciler`. by: what runs the same in an earlier wave.
    """

    where: str
    ids: frozenset[ObjectId]
    by: Sequence[Reconciler]


def proven_in(plan: Plan, turns: Turns, touched: Collection[ObjectId], new: Collection[ObjectId]) -> Iterator[Proven]:
    """Apps and baselines on new clusters. What changes anywhere in the run is not proven, and an app only with the same content.

    touched: what the run changes or holds. new: what of this does not exist yet.
    """
    parts = parts_of(plan) if new else {}
    awaited = {each.id: each for each in chain.from_iterable(turns.awaited.values()) if each.id in parts}
    running = grouped((id for id in awaited if id not in new), lambda id: parts[id].subject)
    changing = {parts[id].subject for id in touched if id in parts and id not in new}
    subjects = running.keys() - changing
    found = [id for id in awaited if id in new and parts[id].subject in subjects]
    subjects &= {parts[id].subject for id in found}
    apps = tuple(app for app in plan.apps if app.id in awaited and parts[app.id].subject in subjects)
    contents = contents_by(replace(plan, apps=apps), lambda app: app.id) if apps else {}
    objects = {each.id: each for each in plan.objects} if found else {}
    for id in found:
        earlier = (each for each in running[parts[id].subject] if parts[each].wave < parts[id].wave)
        if by := [awaited[each] for each in earlier if contents.get(each) == contents.get(id)]:
            yield Proven(awaited[id].where, frozenset((id, *_needed(objects[id], objects, new))), by)


def _needed(of: KubeObject, objects: Mapping[ObjectId, KubeObject], new: Collection[ObjectId]) -> Iterator[ObjectId]:
    """What an object depends on, as far as it is new and Flux does not reconcile it."""
    for id in of.depends_on:
        if id in new and not is_reconciled(id):
            yield id
            yield from _needed(objects[id], objects, new)
