"""The document of `tenantry why`."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import Document, OfApp, Part, Readiness, TextOrNull, at

_Stage = Literal["file", "source", "flux", "dependency", "baseline", "cluster", "object"]


class Evidence(Part):
    """An object and what it says."""

    what: str
    """Kind and name, or what is counted."""
    state: str
    since: TextOrNull
    """`null` if that is not known."""
    message: str
    at_most: bool
    """Whether it can be later than `since`: nobody looked in between."""


class Finding(Part):
    """Something that is not well."""

    stage: _Stage
    """Where on the way from the file to the pods it lies."""
    cause: str
    """In one line."""
    evidence: list[Evidence]
    advice: str
    """What to change where no command does it; can be empty."""
    next: list[str]
    """Commands to type next."""


class Cause(OfApp):
    """Why an app on one cluster is not well."""

    status: Readiness | None = at("readiness")
    """As in `tenantry status`; `null` if the management cluster was not read."""
    well: bool
    """Whether nothing was found."""
    cause: TextOrNull
    """That of the first finding; `null` if everything is well."""
    findings: list[Finding]
    """The most causal first."""
    trail: list[Evidence]
    """From the source to the app's objects."""
    objects: list[Evidence]
    """What Flux applied, as the app's cluster has it."""
    notes: list[str]
    """What may become a cause, such as a quota that is nearly used up."""
    unread: list[str]
    """What could not be read, and why."""
    read_as: TextOrNull = at("user")
    """The service account as which the app's cluster was read; `null`: as the person who asked."""


class Absent(Part):
    """Why an app is not on a cluster."""

    app: str
    cluster: str
    reason: str
    at: str
    """The line of the file that decides."""
    selector: TextOrNull
    """The clusters that the app goes to, in words; `null` if the cluster is not in the environment."""


class Why(Document):
    """Why apps are not well: `tenantry why`."""

    kind: Literal["Why"] = "Why"
    environment: str
    apps: list[Cause]
    """Those that need attention first."""
    absent: Absent | None
    """Why the app is not on the cluster that was named; `null` if it is."""
