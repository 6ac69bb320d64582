"""The documents of commands that say how apps, objects and rollouts are."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from tenantry.cli.documents.common import (
    Document,
    Failure,
    ObjectId,
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
    since: TextOrNull = at("since", "at")
    """Since when it is ready, or is not; `null` if that is not known."""
    at_most: bool = at("since", "at_most")
    """Whether it can be later than `since`: nobody looked in between."""
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
    since: TextOrNull = at("since", "at")
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


class WaveChange(Part):
    """An app, or the rest of a tenant or of the platform, that a run would change in a wave."""

    subject: str
    reason: str
    until: datetime | None


class WaveState(Part):
    """A wave, how its apps are, and what a run would change in it."""

    number: int = at("wave", "number")
    name: str = at("wave", "name")
    clusters: list[str] = at("wave", "every")
    apps: dict[str, int]
    changing: list[WaveChange]


class EnvironmentState(Part):
    """An environment, when it was read."""

    environment: str
    read_at: str
    """When it was read, in UTC."""
    ready: bool
    """Whether every app that is listed is ready, and every object as planned."""
    planned: int
    """How many objects are planned, apps included."""
    waves: list[WaveState]
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
