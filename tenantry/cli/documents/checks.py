"""The documents of commands that check something."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import ChangedObject, Document, FileProblem, ObjectId, Part, Problem


class Validation(Document):
    """A valid file: `tenantry validate`."""

    kind: Literal["Validation"]
    valid: Literal[True]
    errors: list[FileProblem]
    """Always empty."""
    warnings: list[FileProblem]
    """What is valid, but probably a mistake."""
    objects: dict[str, int]
    """How many objects each environment yields."""
    clusterAdmin: list[str]
    """The tenants with `clusterAdmin: true`."""
    clusterRoles: list[str]
    """The tenants with `clusterRoles`."""


class Adoption(Part):
    """What a tenant takes over."""

    tenant: str
    taken: list[ChangedObject]
    """Existing objects, with the fields that change."""
    made: list[ObjectId]
    """New objects."""


class CheckedEnvironment(Part):
    """An environment, checked against its clusters."""

    environment: str
    management: str
    """The management cluster."""
    objects: int
    """How many objects are planned."""
    fit: bool
    """Whether there are no errors."""
    refused: bool
    """Whether the guard of `pulumi up` would refuse the change."""
    problems: list[Problem]
    """Errors first. If the management cluster cannot be asked, this is the only problem."""
    adoptions: list[Adoption]


class Preflight(Document):
    """The plan compared with the live clusters: `tenantry preflight`."""

    kind: Literal["Preflight"]
    environments: list[CheckedEnvironment]
    """In the order of the options."""
    warnings: list[FileProblem]
    """What `tenantry validate` warns of."""


class KubeconfigCheck(Document):
    """The kubeconfig of a remote cluster: `tenantry cluster check`."""

    kind: Literal["KubeconfigCheck"]
    cluster: str
    problems: list[Problem]
