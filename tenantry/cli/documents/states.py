"""The documents of commands that list what is there."""

from __future__ import annotations

from typing import Any, Literal

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
    by_labels: bool = False
    """Whether the file is invalid or not there, so that the labels on the management cluster are all that is known."""


class WaveChange(Part):
    """An app, or the rest of a tenant or of the platform, that a run would change in a wave."""

    subject: str
    """`rocky/web`, `platform/dns`; `rocky` or `platform` for what is of no single app."""
    reason: str
    """What it waits for; empty if the next run begins with it."""
    until: str
    """When this is over, in UTC; empty if that is not known."""
    approval: bool
    """Whether it waits for `tenantry approve`."""


class WaveState(Part):
    """A wave, and what a run would change in it."""

    rollout: str
    """Empty for the environment's; `rocky/web` for an app's own."""
    number: int
    name: str
    units: list[str]
    """Its clusters or tenants."""
    changing: list[WaveChange]


class EnvironmentRollouts(Part):
    """The rollouts of an environment, compared with its clusters."""

    environment: str
    windows: list[str]
    """When a change could begin, in sentences; empty if it has no windows."""
    waves: list[WaveState]
    clusters: dict[str, str]
    """Clusters whose windows are shut while something of them would change, with the reason."""
    outside: int
    """How many objects would change that are in no wave."""


class RolloutStatus(Document):
    """What a run would change now, and what of it waits: `tenantry status --rollout`."""

    kind: Literal["Status"] = "Status"
    environments: list[EnvironmentRollouts]


class Receiver(Part):
    """A receiver of webhooks."""

    tenant: TextOrNull
    """`null` for a receiver of the platform."""
    cluster: str
    namespace: str = at("id", "namespace")
    name: str = at("id", "name")
    status: Readiness = at("readiness")
    path: str
    """Of its webhook; empty until it has one."""
    message: str
    """Flux's own message."""


class Receivers(Document):
    """The receivers and their webhooks: `tenantry status --receivers`."""

    kind: Literal["Status"] = "Status"
    environment: str
    receivers: list[Receiver]


class Changes(Part):
    """How many objects of a tenant, or of `platform`, a run changed; of a run that failed, set out to change."""

    created: int
    changed: int
    deleted: int


class PastRun(Part):
    """A run that changed something. What nobody could tell is empty."""

    began: str
    """When it began, in UTC."""
    ended: str
    verb: str
    """`up` or `destroy`."""
    result: str
    """`succeeded`, `waiting` if something stayed as it was because it has to wait, `partly` if it did because it failed or lacks
    something, `applied` if nobody noted how Pulumi's deletions ended, `failed`, `interrupted`, or `running`.
    """
    stack: str
    """As `project/stack`."""
    user: str
    """Whom the management cluster saw."""
    actor: str
    """Who began the run, as the build server or the system says."""
    commit: str
    edited: bool
    """Whether files that Git follows were not as in the commit."""
    pipeline: str
    """Its address."""
    version: str
    """Of Tenantry."""
    plan: str
    """A digest of all planned objects, without values of Secrets."""
    ignored: list[str]
    """What the run did not wait for in an emergency."""
    reason: str
    """Why not."""
    without: list[str]
    """The management clusters that it left out."""
    changes: dict[str, Changes]
    """By tenant; those of no tenant are under `platform`."""


class History(Document):
    """The runs that changed an environment: `tenantry history`."""

    kind: Literal["History"] = "History"
    environment: str
    plan: str
    """The digest that a run from this file would note now."""
    runs: list[PastRun]
    """The newest first."""
    unreadable: list[str]
    """Keys of entries that are malformed."""


class Objects(Document):
    """What `tenantry up` applies: `tenantry render`."""

    kind: Literal["Objects"] = "Objects"
    objects: list[dict[str, Any]]
    """Kubernetes manifests with the values of the file. Secrets whose values are in the stack's secret config are left out."""
    hubs: list[str] | None = None
    """The management cluster of each object, in the same order; "" in an environment with one. `null`: no environment has
    several."""


class List(Document):
    """What the file declares: `tenantry list`."""

    kind: Literal["List"] = "List"
    of: Literal["tenants", "classes", "apps", "clusters", "placements", "sources", "environments", "rights"]
    items: list[dict[str, Any]]
    """Their keys depend on `of`. An app or source has `versions`: what it takes, and the `placements` where it does; a placement
    has the `planned` version of each app and the `hub`, its management cluster; a cluster has `hubs`, those of its environments;
    a right has `kind`, `name`, `may`, `role`, `namespaces`, `line` and `placements`. docs/operations.md describes the command."""


class Discovery(Document):
    """The clusters that a management cluster knows: `tenantry cluster discover`."""

    kind: Literal["Discovery"] = "Discovery"
    file: str
    """The file with discovered clusters."""
    written: bool
    added: dict[str, dict[str, Any]]
    """New entries, by name."""
    objects: dict[str, str]
    """The object that each new entry stands for."""
    gone: list[str]
    """Entries whose object is gone: they get `state: decommissioned`."""
    known: list[str]
    """Declared already."""
    elsewhere: list[str]
    """Declared in other files, and gone."""
    back: list[str]
    """Decommissioned in the file, and there again."""
    itself: list[str]
    """Objects with the name of the management cluster, which are left out."""
    tenants: list[str]
    """Objects in namespaces of tenants, which are left out."""
    notes: list[str]
    """Kinds that were skipped, and why."""


class Process(Part):
    """A process of the sandbox."""

    owner: str
    """The cluster; `sandbox` for what all clusters use."""
    part: str
    pid: int
    alive: bool
    ports: list[int]
    memory: int
    """Resident bytes; 0 if it is dead."""
    log: str


class SandboxCluster(Part):
    """A cluster of the sandbox."""

    name: str
    management: bool
    alive: bool
    kubeconfig: str


class Sandbox(Document):
    """The processes of the sandbox: `tenantry sandbox status`."""

    kind: Literal["Sandbox"] = "Sandbox"
    root: str
    environment: str
    alive: bool
    """Whether all processes run."""
    webhooks: str
    """The address that takes the calls of webhooks; empty without Flux."""
    clusters: list[SandboxCluster]
    """The management cluster first."""
    parts: list[Process]


class Outcome(OfFluxObject):
    """What was done to an app."""

    outcome: str = at("done")
    """Such as `requested`, `ready`, `not ready`, `suspended`, `resumed`, `unchanged` or `refused`; others can be added."""
    message: str
    """Why, and what to do; can be empty."""


class Actions(Document):
    """What was done to apps: `tenantry reconcile`, `suspend` and `resume`."""

    kind: Literal["Actions"] = "Actions"
    action: str
    """`reconcile`, `suspend` or `resume`."""
    dry_run: bool
    """Whether nothing was changed."""
    items: list[Outcome]
    by_labels: bool = False
    """Whether the file is invalid or not there, so that the labels on the management cluster are all that is known."""


class Event(ObjectId):
    """What Kubernetes' events say about an object; equal events are one."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    count: int
    """How many such events there were."""
    first: TextOrNull
    """When the first one was, as far back as the cluster keeps events."""
    last: TextOrNull


class Events(Document):
    """What happened to the Flux objects of apps, the oldest first: `tenantry events`."""

    kind: Literal["Events"] = "Events"
    environment: str
    items: list[Event]
    by_labels: bool = False
    """Whether the file is invalid or not there, so that the labels on the management cluster are all that is known."""


class LogLine(ObjectId):
    """A line in the log of a Flux controller about an object."""

    time: TextOrNull
    """In UTC."""
    level: str
    """Such as `info` or `error`."""
    message: str


class Logs(Document):
    """What Flux's controllers log about apps, the oldest first: `tenantry logs`."""

    kind: Literal["Logs"] = "Logs"
    environment: str
    items: list[LogLine]
    by_labels: bool = False
    """Whether the file is invalid or not there, so that the labels on the management cluster are all that is known."""


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
    by_labels: bool = False
    """Whether the file is invalid or not there, so that the labels on the management cluster are all that is known."""
