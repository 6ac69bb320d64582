"""What a run would change, and how the clusters are: what `blocked` is asked about. Nothing here reads a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.rollout.lines import Lines
from tenantry.rollout.readiness import Live, Reconciler
from tenantry.rollout.reasons import Reason


class Changed(NamedTuple):
    """A planned object that the cluster does not hold as planned. live: None: it is missing. fields: the paths that differ."""

    live: Manifest | None
    fields: tuple[tuple[str, ...], ...] = ()

    @property
    def is_state_alone(self) -> bool:
        """Whether it is paused or resumed, and nothing else changes."""
        return self.live is not None and set(self.fields) == {("spec", "suspend")}


@dataclass(frozen=True)
class Change:
    """What a run has yet to apply.

    changed: in the order of the plan, without what this run has applied. removed: what is no longer planned, and what it is now.
    """

    lines: Lines
    changed: Mapping[ObjectId, Changed]
    removed: Mapping[ObjectId, Manifest] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        return self.lines.plan

    @cached_property
    def objects(self) -> Mapping[ObjectId, KubeObject]:
        return {object.id: object for object in self.plan.objects}

    @cached_property
    def chains(self) -> Chains:
        return Chains(self.plan)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How the clusters are.

    live: the Flux objects, as they have just been read. ever_ready: the clusters on which anything of the fleet was ever ready.
    missing: Secrets without a value. refused: what the API server refuses. before: apps that the environment before does not show
    yet. uses: what objects depend on, as the state says. asked: when this run asked Flux to reconcile a repository. left_out: what
    the engine was told to leave alone, as by `--target`.
    """

    live: Live
    ever_ready: Collection[str] = ()
    missing: Mapping[ObjectId, str] = field(default_factory=dict)
    refused: Mapping[ObjectId, str] = field(default_factory=dict)
    before: Mapping[str, Reason] = field(default_factory=dict)
    uses: Mapping[ObjectId, Collection[ObjectId]] = field(default_factory=dict)
    asked: Mapping[ObjectId, datetime] = field(default_factory=dict)
    left_out: Collection[ObjectId] = ()


class Ignoring(NamedTuple):
    """What somebody does not wait for.

    waves, after: the lines that wait for no wave, and for no environment before. through: the last wave to change; None: all.
    """

    waves: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    through: int | None = None

    def __bool__(self) -> bool:
        return self != NOTHING


NOTHING = Ignoring()


def reconcilers_in(change: Change, applied: Iterable[ObjectId] = ()) -> list[Reconciler]:
    """The reconcilers that decide about a change: those of its lines, and what its objects depend on."""
    lines, objects = change.lines, change.objects
    ids = (*change.changed, *applied)
    subjects = {subject for id in ids for subject in lines.subjects.get(id, ())}
    apps = (app.id for app in change.plan.apps if app.full_name in subjects)
    needed = (id for start in ids for id in (start, *objects[start].depends_on))
    named = dict.fromkeys(id for id in (*apps, *needed) if id in lines.reconcilers)
    of_lines = {
        reconciler.id: reconciler
        for subject in subjects
        for clusters in lines.members.get(subject, {}).values()
        for reconcilers in clusters.values()
        for reconciler in reconcilers
    }
    return list({**of_lines, **{id: lines.reconcilers[id] for id in named}}.values())


def wanted_of(change: Change, applied: Iterable[ObjectId] = ()) -> frozenset[ObjectId]:
    """The Flux objects, configs and Secrets that have to be read to decide about a change."""
    return frozenset(
        id
        for reconciler in reconcilers_in(change, applied)
        for id in (reconciler.id, *reconciler.sources, *reconciler.inputs, *(before.id for before in reconciler.after))
    )
