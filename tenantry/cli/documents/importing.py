"""The document of `tenantry import`."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import Document, Field, ObjectId, Part


class ReadObject(ObjectId):
    """An object that was read."""

    environment: str
    """The environment whose management cluster holds it."""
    origin: str
    """A file with a line, or `live`."""


class Expressed(ReadObject):
    """An object that tenants.yaml expresses, and the key that does."""

    path: list[str | int]
    """The keys and indexes that lead to it."""
    line: int
    """The line of that key in the written file."""


class Kept(ReadObject):
    """An object that was read and is planned. Adoption keeps its identity."""

    fields: list[Field]
    """Fields that adoption changes. Labels and annotations that Tenantry adds to every object are left out."""
    stays: list[Field]
    """Fields that stay on the object, although tenants.yaml does not say them."""


class Renamed(ReadObject):
    """An object that is planned under another name. Of an app, the fields tell in what else the planned object differs."""

    planned: str
    """The planned object of an app, such as `HelmRelease edge/north-web`. Empty for other kinds: there may be several."""
    fields: list[Field]
    """Fields with another value."""


class NotExpressed(ReadObject):
    """An object, or a part of one, that tenants.yaml does not express."""

    field: str
    """The part as a path with dots; empty for the whole object."""
    reason: str
    fix: str
    """What to do about it; can be empty."""
    fate: Literal["inexpressible", "stays", "replaced", "applied"]
    """What becomes of it, as it is counted."""


class Created(ObjectId):
    """An object that adoption creates."""

    environment: str


class AdoptionStep(Part):
    """A step of the adoption."""

    text: str
    """What to do, and why."""
    commands: list[str]
    """Ready to copy; can be empty."""
    back: list[str]
    """Commands that undo the step before `tenantry up`; can be empty."""


class UnreadPlace(Part):
    """A file, a directory, or what a Kustomization applies, that could not be read."""

    environment: str
    place: str
    reason: str
    fix: str
    """What to do about it; can be empty."""


class FollowedKustomization(Part):
    """A Kustomization whose objects were read from a source at hand."""

    environment: str
    namespace: str
    name: str
    directory: str
    """What it applies."""
    objects: int
    """How many objects it applies."""
    is_read: bool
    """Whether these are among the objects that were read; otherwise the Kustomization stays what applies them."""


class InstalledFlux(Part):
    """What Flux itself consists of in an environment."""

    environment: str
    version: str
    """Empty if no object says it."""
    objects: int


class ImportCounts(Part):
    """Every object that was read is one of unchanged, changed, renamed, applied, replaced, stays and inexpressible."""

    read: int
    expressed: int
    """Kept or renamed."""
    unchanged: int
    """Kept, and no field changes."""
    changed: int
    """Kept, with fields that change."""
    renamed: int
    """Planned under another name."""
    left: int
    """Not in the file, and not by an app in it: stays or inexpressible."""
    applied: int
    """Applied by an app or an add-on of the file, which goes on applying it."""
    replaced: int
    """Kustomizations and HelmReleases that have nothing to do any more, because what they apply is expressed."""
    stays: int
    """Left where they are: what applies them today goes on."""
    inexpressible: int
    """What tenants.yaml cannot say, or somebody has to decide."""
    flux: int
    """Objects of Flux that were read, without Flux's own bootstrap."""
    flux_expressed: int
    """Those of them that are expressed."""
    flux_applied: int
    """Those of them that an app or an add-on of the file applies."""
    flux_replaced: int
    """Those of them that have nothing to do any more."""
    added: int
    """Created by adoption."""


class Import(Document):
    """Existing Flux objects as tenants.yaml: `tenantry import`."""

    kind: Literal["Import"] = "Import"
    file: str
    """The written file."""
    environments: dict[str, str]
    """The management cluster of each environment."""
    counts: ImportCounts
    unread: list[UnreadPlace]
    """What could not be read. The command then ends with exit code 1."""
    followed: list[FollowedKustomization]
    flux: list[InstalledFlux]
    """Flux's own objects, which are not counted as read."""
    became: list[Expressed]
    """What became what. An object can have several places."""
    kept: list[Kept]
    renamed: list[Renamed]
    """Objects that are planned under another name: the old ones stay beside the new ones."""
    left_over: list[NotExpressed]
    """What tenants.yaml does not express, with the reason."""
    created: list[Created]
    steps: list[AdoptionStep]
    """What to do until the fleet has taken everything over, in this order."""
