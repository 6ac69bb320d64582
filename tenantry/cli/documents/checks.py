"""The documents of commands that check something."""

from __future__ import annotations

from typing import Annotated, Literal

from tenantry.cli.documents.common import (
    OMITTED_IF_EMPTY,
    ChangedObject,
    Document,
    FileProblem,
    Gate,
    ObjectId,
    Part,
    Problem,
    at,
)


class PlannedWave(Part):
    """A wave of a rollout."""

    number: int
    """From 1."""
    name: str
    """As written, or `wave 2`."""
    clusters: list[str]
    """Those that the next wave waits for."""
    left_out: list[str]
    """Paused or decommissioned clusters, for which nothing waits."""


class PlannedRollout(Part):
    """A rollout with its waves."""

    rollout: str = at("name")
    """Empty for the environment's; `rocky/web` for an app's own, `addon dns` for an add-on's own."""
    waves: list[PlannedWave]


class Validation(Document):
    """A valid file: `tenantry validate`."""

    kind: Literal["Validation"] = "Validation"
    valid: Literal[True] = True
    errors: list[FileProblem] = []
    """Always empty."""
    warnings: list[FileProblem]
    """What is valid, but probably a mistake."""
    objects: dict[str, int]
    """How many objects each environment yields."""
    rollouts: Annotated[dict[str, list[PlannedRollout]], OMITTED_IF_EMPTY] = {}
    """The rollouts of each environment that has one; omitted if none has."""
    gates: Annotated[dict[str, Gate], OMITTED_IF_EMPTY] = {}
    """The gate of each environment whose `after` is one; omitted if none is."""
    cluster_admin: list[str]
    """The tenants with `clusterAdmin: true`."""
    cluster_roles: list[str]
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
    """Whether the guard of `tenantry up` would refuse the change."""
    problems: list[Problem]
    """Errors first. If the management cluster cannot be asked, this is the only problem."""
    adoptions: list[Adoption]


class Preflight(Document):
    """The plan compared with the live clusters: `tenantry preflight`."""

    kind: Literal["Preflight"] = "Preflight"
    environments: list[CheckedEnvironment]
    """In the order of the options."""
    warnings: list[FileProblem]
    """What `tenantry validate` warns of."""


class KubeconfigCheck(Document):
    """The kubeconfig of a remote cluster: `tenantry cluster check`."""

    kind: Literal["KubeconfigCheck"] = "KubeconfigCheck"
    cluster: str
    problems: list[Problem]
