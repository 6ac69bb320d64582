"""Parts that several documents have, and the documents of commands that fail. The texts below the fields are published."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of a document. Later versions of Tenantry can add keys."""

    model_config = ConfigDict(use_attribute_docstrings=True, json_schema_serialization_defaults_required=False)


class Document(Part):
    """What every document begins with."""

    apiVersion: Literal["tenantry/v1"]
    """The version of the document. Within a version, keys are only added."""


class Failure(Part):
    """Why a command failed."""

    code: str
    """What went wrong, for programs. docs/output.md lists the codes; others can be added."""
    message: str
    """What went wrong, for people."""
    fix: str
    """What to do about it; can be empty."""
    exitCode: int
    """The exit code of the command."""


class FileProblem(Part):
    """A problem at a place of the file."""

    file: str
    line: int
    column: int
    severity: Literal["error", "warning"]
    code: str
    """The kind of problem, which never changes its name."""
    message: str
    path: list[str | int]
    """The keys and indexes that lead to the value."""
    notes: list[str]
    """Facts that help to decide, such as the names that are declared."""
    fix: str
    """What to do about it; can be empty."""


class Problem(Part):
    """A problem with something other than the file."""

    severity: Literal["error", "warning"]
    code: str
    """The kind of problem, which never changes its name."""
    message: str
    fix: str


class Failed(Document):
    """A command failed before it had a result."""

    kind: str
    """The kind of the command's document; `Error` if there is no such command."""
    error: Failure


class Invalid(Document):
    """The file that the command reads is invalid."""

    kind: str
    """The kind of the command's document."""
    valid: Literal[False]
    errors: list[FileProblem]
    """All problems of the file, by place; at most 1000."""
    warnings: list[FileProblem]
    """Always empty: warnings are looked for in valid files only."""


class ObjectId(Part):
    """The identity of a Kubernetes object."""

    apiVersion: str
    kind: str
    namespace: str | None
    """`null` for objects without a namespace."""
    name: str


class Field(Part):
    """A value of an object that differs."""

    path: list[str | int]
    """Keys, indexes of list entries, and names of entries that have one."""
    before: Any = None
    """Omitted if there was no value."""
    after: Any = None
    """Omitted if there is no value."""


class ChangedObject(ObjectId):
    """An object and the fields that differ."""

    fields: list[Field]


class Gate(Part):
    """The gate of an environment: changes of its apps wait until the environment before runs them."""

    environment: str
    """The environment before."""
    gate: Literal["refuse", "warn"]
    soak: str | None
    """How long the environment before must have been ready, as written; `null`: ready is enough."""
