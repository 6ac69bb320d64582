"""Whether a wave has arrived on its clusters, according to Flux: from the change to the moment when it is good, or has failed.

Nothing here reads a cluster or a clock: both are given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from tenantry.cluster.standing import (
    Live,
    Needs,
    Standing,
    inputs_of,
    is_of,
    names_of,
    needs_of,
    problems_of_sources,
    revision_of_source,
    said_of,
    state_of,
    waits_for,
)
from tenantry.cluster.status import REQUESTED, Readiness, is_stalled, one_line
from tenantry.kube.objects import Manifest, ObjectId, Owner
from tenantry.messages.data import mapping_at
from tenantry.plan.engine_order import becomes_ready, is_reconciled
from tenantry.plan.plan import Plan


class State(StrEnum):
    GOOD = "good"
    WAITING = "waiting"
    STUCK = "stuck"
    """Flux has given up, and waiting longer changes nothing."""
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Awaited:
    """A Kustomization or HelmRelease that a wave waits for.

    name:    what users call it: `rocky/web`, `platform/dns`, or `the baseline of rocky`.
    owner:   the tenant and the cluster that it is for.
    sources: what it takes its content from, from the first source to the last chart.
    inputs:  the planned ConfigMaps and Secrets that it reads.
    after:   the reconcilers that it depends on, with what users call them.
    """

    id: ObjectId
    owner: Owner
    name: str
    sources: tuple[ObjectId, ...]
    inputs: tuple[ObjectId, ...] = ()
    after: Mapping[ObjectId, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """Such as: edge-1 rocky/web"""
        return f"{self.owner.cluster} {self.name}"

    @property
    def needs(self) -> Needs:
        return Needs(self.sources, self.after)


@dataclass(frozen=True, slots=True)
class Judged:
    """What has become of one reconciler. reason: why it is not good. request: what `requestedAt` has to be set to."""

    awaited: Awaited
    state: State
    reason: str = ""
    request: str = ""


def awaited_in(plan: Plan, ids: Iterable[ObjectId]) -> list[Awaited]:
    """The reconcilers among some objects of a plan. One that is suspended or leaves need not become Ready."""
    names, needs, wanted = names_of(plan), needs_of(plan), frozenset(ids)
    planned = {each.id: each for each in plan.objects}
    return [
        Awaited(
            each.id,
            each.owner,
            names[each.id],
            needs[each.id].sources,
            tuple(id for id in inputs_of(each) if id in planned),
            needs[each.id].after,
        )
        for each in plan.objects
        if each.id in wanted and is_reconciled(each.id) and becomes_ready(each.manifest)
    ]


def judge(awaited: Awaited, live: Live, lasting: Collection[ObjectId] = ()) -> Judged:
    """Whether Flux has applied what is on the management cluster now: this generation, from this revision, with these inputs.

    lasting: reconcilers and sources of which several readings have shown that they fail again and again.
    """
    found = live.get(awaited.id)
    if found is None:
        return Judged(awaited, State.WAITING, "not on the management cluster")
    if mapping_at(found, "spec").get("suspend"):
        return Judged(awaited, State.LEFT_OUT, "suspended by hand")
    for problem in problems_of_sources(awaited.sources, live):
        return Judged(awaited, _state(problem, live, lasting), problem.message)
    token = token_of(awaited, live)
    status = mapping_at(found, "status")
    if token and status.get("lastHandledReconcileAt") != token:
        asked = mapping_at(mapping_at(found, "metadata"), "annotations").get(REQUESTED) == token
        return Judged(awaited, State.WAITING, "Flux has not read its configs again yet", "" if asked else token)
    return _reconciler(awaited, found, live, lasting)


def _state(problem: Standing, live: Live, lasting: Collection[ObjectId]) -> State:
    if problem.readiness is Readiness.SUSPENDED:
        return State.LEFT_OUT
    found = live.get(problem.cause)
    return State.STUCK if problem.cause in lasting or (found is not None and is_stalled(found)) else State.WAITING


def token_of(awaited: Awaited, live: Live) -> str:
    """Tells the present inputs of a reconciler from those before; "" if it has none. It contains nothing that is in them."""
    if not awaited.inputs:
        return ""
    versions = []
    for id in awaited.inputs:
        metadata = mapping_at(live.get(id) or {}, "metadata")
        versions.append(f"{id} {metadata.get('uid')} {metadata.get('resourceVersion')}")
    return f"tenantry-{sha256(chr(10).join(versions).encode()).hexdigest()[:16]}"


def _reconciler(awaited: Awaited, found: Manifest, live: Live, lasting: Collection[ObjectId]) -> Judged:
    revision = revision_of_source(awaited.needs, live)
    tried = is_of(revision, found)
    if state_of(found) is Readiness.READY:
        if tried:
            return Judged(awaited, State.GOOD)
        return Judged(awaited, State.WAITING, f"Flux has not applied {one_line(revision)} yet")
    if awaited.id in lasting:
        return Judged(awaited, State.STUCK, said_of(found))
    for waits in waits_for(found, awaited.needs, live):
        return Judged(awaited, State.STUCK if waits.cause in lasting else State.WAITING, one_line(waits.message))
    # What Flux gave up may have been the revision before.
    attempted = mapping_at(found, "status").get("lastAttemptedRevision")
    given_up = is_stalled(found) and (tried or (found["kind"] == "Kustomization" and attempted == revision))
    return Judged(awaited, State.STUCK if given_up else State.WAITING, said_of(found))


class Request(NamedTuple):
    """A value of `requestedAt` that makes Flux read what an object refers to again."""

    id: ObjectId
    token: str
