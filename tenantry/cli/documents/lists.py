"""The documents of commands that list what a file declares, what was done, and what happened."""

from __future__ import annotations

from typing import Any, Literal

from tenantry.cli.documents.common import Document, ObjectId, OfFluxObject, Part, TextOrNull, at


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
    of: Literal["tenants", "apps", "clusters", "placements"]
    items: list[dict[str, Any]]
    """Their keys depend on `of`. An app has `versions`: what it takes, and the `placements` where it does; a placement has the
    `planned` version of each app and the `hub`, its management cluster; a cluster has `hubs`, those of its environments.
    docs/operations.md describes the command."""


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
