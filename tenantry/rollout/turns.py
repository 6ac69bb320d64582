"""When each object of a plan has its turn: in which wave of which rollout, and with which cluster.

Also what the gates between the turns read from the management cluster, and what they ask Flux for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.control import FIELD_MANAGER, REQUESTED
from tenantry.kube.objects import ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.plan import Plan
from tenantry.rollout.judging import Awaited, Request, awaited_in
from tenantry.rollout.waves import Rollout

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class Turn(NamedTuple):
    """Objects that begin together. cluster: "" for what several clusters of a wave need, which begins first."""

    rollout: str
    wave: int
    cluster: str


@dataclass(frozen=True, slots=True)
class Turns:
    """awaited: the reconcilers of each wave, by rollout and number."""

    rollouts: tuple[Rollout, ...] = ()
    of: Mapping[ObjectId, Turn] = field(default_factory=dict)
    awaited: Mapping[tuple[str, int], list[Awaited]] = field(default_factory=dict)

    @property
    def awaited_ids(self) -> frozenset[ObjectId]:
        """All reconcilers that some wave waits for."""
        return frozenset(each.id for found in self.awaited.values() for each in found)


def turns_of(plan: Plan) -> Turns:
    """The turns of a plan; empty without rollouts."""
    if not plan.rollouts:
        return Turns()
    turns = _shared_first(plan)
    return Turns(plan.rollouts, turns, grouped(awaited_in(plan, turns), lambda each: turns[each.id][:2]))


def _shared_first(plan: Plan) -> dict[ObjectId, Turn]:
    """The turn of each object. What another cluster depends on does not wait for its own cluster's turn within the wave."""
    turns: dict[ObjectId, Turn] = {}
    for each in plan.objects:
        if found := plan.wave_of(each.id):
            rollout, wave = found
            turns[each.id] = Turn(rollout.name, wave.number, each.owner.cluster)
    for each in reversed(plan.objects):
        mine = turns.get(each.id)
        for id in each.depends_on:
            if (other := turns.get(id)) and (mine is None or mine.cluster != other.cluster):
                turns[id] = other._replace(cluster="")
    return turns


def wanted_of(awaited: Iterable[Awaited]) -> frozenset[ObjectId]:
    """Everything that has to be read to judge some reconcilers."""
    return frozenset(id for each in awaited for id in (each.id, *each.sources, *each.inputs, *each.after))


def ask(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that is gone meanwhile is missed at the next reading."""

    def one(each: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: each.token}}}
        requests.patched(client, each.id, annotations, manager=FIELD_MANAGER, dry_run=False)

    requests.in_parallel(one, asked)
