"""The documents of commands that say how apps, objects and rollouts are."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import (
    Document,
    Failure,
    ObjectId,
    OfApp,
    OfFluxObject,
    Part,
    Readiness,
    TextOrNull,
    at,
)


class WaveOf(Part):
    """A wave of a rollout."""

    number: int
    """From 1."""
    name: str
    """As in the file, or `wave 2`."""


class AppState(OfFluxObject):
    """An app, add-on or baseline, as Flux reports it."""

    environment: str
    status: Readiness = at("readiness")
    revision: str
    """What Flux applied last; can be empty."""
    attempted: str
    """What Flux tries to apply, if that is another revision."""
    behind: TextOrNull
    """What the cluster lacks if it is `unreachable`: a revision, `changed settings` or `everything`; `null` if nothing is known to
    have changed."""
    since: TextOrNull
    """Since when it is ready, or is not; `null` if that is not known."""
    wave: WaveOf | None
    """In which wave of a rollout the app changes on this cluster; `null` without one."""
    suspended_by_hand: bool = at("by_hand")
    """Whether it is suspended on the cluster, and not in the file."""
    message: str
    """Flux's own message."""


class ObjectState(ObjectId):
    """A planned object that is not as planned, and stands for no app: a baseline, a source, an account, a right."""

    environment: str
    tenant: TextOrNull = at("planned", "owner", "tenant")
    """`null` for an object of the platform."""
    cluster: TextOrNull = at("planned", "owner", "cluster")
    """The cluster that it is for; `null` if several share it."""
    status: Readiness = at("readiness")
    """`changed`: by hand. `outdated`: no run has applied it yet as the file says now. `unreachable`: Flux gets no connection to
    its cluster."""
    since: TextOrNull
    """Since when it is not ready; `null` if that is not known."""
    wave: WaveOf | None
    """In which wave of a rollout it changes; `null` without one."""
    used: TextOrNull
    """Of what clusters share, such as `used on 412 of 750 clusters`; else `null`."""
    behind: TextOrNull
    """As of an app."""
    message: str


class Stuck(Part):
    """An object that cannot make progress by itself."""

    environment: str
    message: str
    fix: str


class EnvironmentState(Part):
    """An environment, when it was read."""

    environment: str
    read_at: str
    """When it was read, in UTC."""
    ready: bool
    """Whether every app that is listed is ready, and every object as planned."""
    planned: int
    """How many objects are planned, apps included."""
    undeclared: list[ObjectId] | None
    """Objects of the environment that the file does not declare; `null` if this user may not look for them."""


class Unread(Part):
    """An environment that could not be read."""

    environment: str
    error: Failure


class Status(Document):
    """Whether every app is ready and every object as planned: `tenantry status`."""

    kind: Literal["Status"] = "Status"
    environments: list[EnvironmentState]
    apps: list[AppState]
    """Of all environments, those that need attention first in each."""
    objects: list[ObjectState]
    """The planned objects besides apps that are not as planned."""
    stuck: list[Stuck]
    unread: list[Unread]
    """Environments that could not be read while others could."""


class WaveChange(Part):
    """An app, or the rest of a tenant or of the platform, that a run would change in a wave."""

    subject: str
    """`rocky/web`, `platform/dns`; `rocky` or `platform` for what is of no single app."""
    reason: str
    """What it waits for; empty if the next run begins with it."""
    until: str
    """When this is over, in UTC; empty if that is not known."""


class WaveState(Part):
    """A wave, and what a run would change in it."""

    number: int
    name: str
    clusters: list[str]
    changing: list[WaveChange]


class EnvironmentRollout(Part):
    """The rollout of an environment, compared with its clusters."""

    environment: str
    waves: list[WaveState]
    outside: int
    """How many objects would change that are in no wave."""


class RolloutStatus(Document):
    """What a run would change now, and what of it waits: `tenantry status --rollout`."""

    kind: Literal["Status"] = "Status"
    environments: list[EnvironmentRollout]


class Step(ObjectId):
    """An object on the way from a source to what an app applies."""

    status: Readiness = at("readiness")
    revision: str
    since: TextOrNull
    """When the status changed last; `null` if that is not known."""
    message: str
    """Flux's own message."""


class AppliedObject(ObjectId):
    """An object that Flux applied, as its cluster has it."""

    health: Literal["ready", "progressing", "failed", "missing", "unknown"] | None
    """`unknown`: its cluster, or the object, could not be read. `null`: it was not asked for."""
    why: str
    """Why it is not ready."""


class AppTree(OfApp):
    """An app, from its source to what it applied."""

    steps: list[Step]
    """The source, then what is made of it, and at last the Flux object of the app."""
    objects: list[AppliedObject] | None = at("applied")
    """What Flux applied; `null` if it has not applied anything yet."""
    unread: list[str]
    """What could not be read on the app's cluster, and why."""


class Tree(Document):
    """Apps with their sources and objects: `tenantry tree`."""

    kind: Literal["Tree"] = "Tree"
    environment: str
    apps: list[AppTree]
