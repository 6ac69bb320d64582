"""Whether a wave waits for a reconciler: from the change to the moment when it is good, or has failed.

Nothing here reads a cluster or a clock: both are given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from tenantry.kube.objects import ObjectId
from tenantry.messages.data import mapping_at
from tenantry.messages.text import one_line
from tenantry.plan.engine_order import becomes_ready
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import REQUESTED, Readiness
from tenantry.rollout.readiness import Live, Reconciler, Standing, judge, reconcilers_of


class State(StrEnum):
    GOOD = "good"
    WAITING = "waiting"
    STUCK = "stuck"
    """It has failed for good, and waiting longer changes nothing."""
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Judged:
    """What has become of one reconciler. reason: why it is not good. request: what `requestedAt` has to be set to."""

    awaited: Reconciler
    state: State
    reason: str = ""
    request: str = ""


def awaited_in(plan: Plan, ids: Iterable[ObjectId]) -> list[Reconciler]:
    """The reconcilers among some objects of a plan. One that is suspended or leaves need not become Ready."""
    wanted, planned = frozenset(ids), {each.id: each.manifest for each in plan.objects}
    return [each for id, each in reconcilers_of(plan).items() if id in wanted and becomes_ready(planned[id])]


def judge_awaited(awaited: Reconciler, live: Live, now: datetime, begun: datetime | None = None) -> Judged:
    """Whether Flux has applied what is on the management cluster now: this generation, from this revision, with these inputs.

    begun: as of `readiness.judge`.
    """
    standing = judge(awaited, live, now, begun)
    if standing.readiness is Readiness.SUSPENDED:
        return Judged(awaited, State.LEFT_OUT, "suspended by hand")
    if problem := _of_source(awaited, standing):
        left_out = problem.readiness is Readiness.SUSPENDED
        state = State.LEFT_OUT if left_out else State.STUCK if problem.lasts else State.WAITING
        return Judged(awaited, state, one_line(problem.message).removeprefix("waits for "))
    if standing.readiness is Readiness.MISSING:
        return Judged(awaited, State.WAITING, "not on the management cluster")
    token, found = token_of(awaited, live), live[awaited.id]
    if token and mapping_at(found, "status").get("lastHandledReconcileAt") != token:
        asked = mapping_at(found, "metadata", "annotations").get(REQUESTED) == token
        return Judged(awaited, State.WAITING, "Flux has not read its configs again yet", "" if asked else token)
    if standing.readiness is Readiness.READY:
        return Judged(awaited, State.GOOD)
    return Judged(awaited, State.STUCK if standing.lasts else State.WAITING, one_line(standing.message))


def _of_source(awaited: Reconciler, standing: Standing) -> Standing | None:
    """What keeps newer content from coming, also if the reconciler is ready with what was fetched before."""
    return standing if standing.cause in awaited.sources else standing.pending


def token_of(awaited: Reconciler, live: Live) -> str:
    """Tells the present inputs of a reconciler from those before; "" if it has none. It contains nothing that is in them."""
    if not awaited.inputs:
        return ""
    versions = []
    for id in awaited.inputs:
        metadata = mapping_at(live.get(id) or {}, "metadata")
        versions.append(f"{id} {metadata.get('uid')} {metadata.get('resourceVersion')}")
    return f"tenantry-{sha256(chr(10).join(versions).encode()).hexdigest()[:16]}"


class Request(NamedTuple):
    """A value of `requestedAt` that makes Flux read what an object refers to again."""

    id: ObjectId
    token: str
