"""What import reads, and what it makes of that. Every step takes one of these and gives another.

    readers    files, kustomize trees, live clusters  ->  Inventory
    inference  Inventory                              ->  Draft
    proof      Inventory, Draft                       ->  Proof
    report     all of them                            ->  text, JSON

`Path` in these classes is a place in tenants.yaml, not a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """An object that the draft expresses, and the place that does."""

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
    """A fleet that expresses what was read, as plain data in the order in which it is written."""

    data: Mapping[str, Any]
    became: tuple[Became, ...]
    left_over: tuple[LeftOver, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field that adoption changes: present in only one, or with two values."""

    path: str
    read: Any
    planned: Any


@dataclass(frozen=True, slots=True)
class Proven:
    """An object that was read, and the planned object of the same identity. `fields` is empty if nothing changes."""

    read: Read
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """The plan of a draft, compared with what was read.

    kept:    what is planned, too.
    added:   identities that are planned only: adoption creates them.
    missing: what is not planned; each is in the draft's `left_over`, or import has a defect.
    """

    kept: tuple[Proven, ...]
    added: tuple[tuple[str, str], ...]
    missing: tuple[Read, ...]
