"""What import reads, and what it makes of that. Every step takes one of these and gives another.

    readers    files, kustomize trees, live clusters  ->  Inventory
    inference  Inventory                              ->  Draft
    proof      Inventory, Draft                       ->  Proof
    report     all of them                            ->  text, JSON

`Path` in these classes is a place in tenants.yaml, not a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.compare.fields import FieldChange
from tenantry.kube.objects import KubeObject, ObjectId

Path = tuple[str | int, ...]
"""A place in tenants.yaml, from its top."""


@dataclass(frozen=True, slots=True)
class Read:
    """An object as it was found.

    environment: the environment whose management cluster holds it.
    origin:      a file with a line, or "live".
    manifest:    without what the API server adds, and with the values of Secrets removed.
    """

    environment: str
    manifest: Mapping[str, Any]
    origin: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that was read.

    management: the name of each environment's management cluster.
    """

    objects: tuple[Read, ...]
    management: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Became:
    """An object that the draft expresses, and the place that does.

    An object that is planned under another name is in `left_over`, too: the old object stays.
    """

    read: Read
    path: Path


@dataclass(frozen=True, slots=True)
class LeftOver:
    """An object, or a part of one, that the draft does not express.

    field: the part as a path with dots; empty for the whole object.
    """

    read: Read
    reason: str
    fix: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fleet that expresses what was read, as plain data in the order in which it is written.

    became:    every object that the data expresses. One that is planned under another name is in `left_over`, too.
    decisions: comments at places that somebody has to decide about.
    """

    data: Mapping[str, Any]
    became: tuple[Became, ...]
    left_over: tuple[LeftOver, ...]
    decisions: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proven:
    """An object that was read, and the planned object of the same identity.

    changed: fields that adoption adds or changes, and entries of lists that it removes. Secrets are masked.
    stays:   fields that the plan does not set. Adoption leaves them on the object, but tenants.yaml does not say them.
    """

    read: Read
    planned: KubeObject
    changed: tuple[FieldChange, ...]
    stays: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """An object that is planned only: adoption creates it."""

    environment: str
    id: ObjectId


@dataclass(frozen=True, slots=True)
class Proof:
    """The plan of a draft, compared with what was read.

    missing: what is not planned under its name; each is in the draft's `left_over`, or import has a defect.
    defects: what is wrong with the draft, in sentences; import writes nothing if there are any.
    """

    kept: tuple[Proven, ...]
    added: tuple[Added, ...]
    missing: tuple[Read, ...]
    defects: tuple[str, ...]
