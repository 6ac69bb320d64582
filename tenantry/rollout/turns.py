"""When each object has its turn in which wave, what the gates read and ask Flux for, and what a run leaves for other gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.requests import FIELD_MANAGER
from tenantry.kube.objects import ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import REQUESTED
from tenantry.rollout.judging import Request, awaited_in
from tenantry.rollout.readiness import Reconciler
from tenantry.rollout.waves import Rollout

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class Turn(NamedTuple):
    """Objects that begin together. cluster: "" for what several of a wave need, which begins first."""

    wave: int
    cluster: str


@dataclass(frozen=True, slots=True)
class Turns:
    """awaited: the reconcilers of each wave, by its number."""

    rollout: Rollout | None = None
    of: Mapping[ObjectId, Turn] = field(default_factory=dict)
    awaited: Mapping[int, list[Reconciler]] = field(default_factory=dict)


def turns_of(plan: Plan) -> Turns:
    """The turns of a plan; empty without a rollout."""
    if plan.rollout is None:
        return Turns()
    turns = _shared_first(plan)
    return Turns(plan.rollout, turns, grouped(awaited_in(plan, turns), lambda each: turns[each.id].wave))


def _shared_first(plan: Plan) -> dict[ObjectId, Turn]:
    """The turn of each object. What another cluster depends on does not wait for its own one's turn within the wave."""
    turns: dict[ObjectId, Turn] = {}
    for planned in plan.objects:
        if wave := plan.wave_of(planned.id):
            turns[planned.id] = Turn(wave.number, planned.owner.cluster)
    for each in reversed(plan.objects):
        mine = turns.get(each.id)
        for id in each.depends_on:
            if (other := turns.get(id)) and (mine is None or mine.cluster != other.cluster):
                turns[id] = other._replace(cluster="")
    return turns


def wanted_of(awaited: Iterable[Reconciler]) -> frozenset[ObjectId]:
    """Everything that has to be read to judge some reconcilers."""
    return frozenset(
        id for each in awaited for id in (each.id, *each.sources, *each.inputs, *(before.id for before in each.after))
    )


def ask(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that is gone meanwhile is missed at the next reading."""

    def one(each: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: each.token}}}
        requests.patched(client, each.id, annotations, manager=FIELD_MANAGER, dry_run=False)

    requests.in_parallel(one, asked)
