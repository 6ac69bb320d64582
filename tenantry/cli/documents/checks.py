"""The documents of commands that check something, and of those that list a project's stacks or write its files."""

from __future__ import annotations

from typing import Annotated, Literal

from tenantry.cli.documents.common import (
    OMITTED_IF_EMPTY,
    OMITTED_IF_NULL,
    ChangedObject,
    Document,
    FileProblem,
    Gate,
    ObjectId,
    Part,
    Problem,
    TextOrNull,
    ValueOrAbsent,
    at,
)
from tenantry.cli.documents.explanation import Origin


class PlannedWave(Part):
    """A wave of a rollout."""

    number: int
    """From 1."""
    name: str
    """As written, or `wave 2`."""
    clusters: list[str]
    """Those that the next wave waits for."""
    left_out: list[str]
    """Those for which nothing waits: they are paused or decommissioned."""


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
    rollouts: Annotated[dict[str, list[PlannedWave]], OMITTED_IF_EMPTY] = {}
    """The waves of each environment that has some; omitted if none has."""
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


class RejectedObject(Part):
    """An object that the API server would not take."""

    object: ObjectId = at("id")
    reason: str
    """What the server says."""


class DryRun(Part):
    """What becomes of the planned objects, as the API server says. Each is in one of the first five lists."""

    equal: list[ObjectId]
    """Nothing changes."""
    marked: list[ObjectId]
    """They get labels and annotations of Tenantry, and nothing else changes."""
    changed: list[ChangedObject]
    """With the fields that change."""
    made: list[ObjectId]
    """New objects."""
    rejected: list[RejectedObject]
    deleted: list[ObjectId]
    """Objects with the environment's labels that are not planned: a run deletes those that its stack has."""


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
    dry_run: Annotated[DryRun | None, OMITTED_IF_NULL] = None
    """Omitted without `--dry-run`, and if the dry run was not possible."""


class Preflight(Document):
    """The plan compared with the live clusters: `tenantry preflight`."""

    kind: Literal["Preflight"] = "Preflight"
    environments: list[CheckedEnvironment]
    """In the order of the options."""
    warnings: list[FileProblem]
    """What `tenantry validate` warns of."""


class ClusterAnswer(Part):
    """A cluster's first answer."""

    milliseconds: int
    version: str
    """Of its Kubernetes; empty if it does not say."""


class CheckedCluster(Document):
    """A cluster, and the kubeconfig through which Flux reaches it: `tenantry preflight --cluster`."""

    kind: Literal["Preflight"] = "Preflight"
    cluster: str
    problems: list[Problem]
    answered: ClusterAnswer | None
    """`null`: it was not asked, or did not answer."""
    expires: dict[str, str]
    """Until when what the kubeconfig holds is valid, in UTC, by what it is, such as `the user's certificate`."""


class Subject(Part):
    """An app, an add-on, a tenant, or the environments themselves."""

    tenant: TextOrNull = at("subject", "tenant")
    """`null` for an add-on and for the environments."""
    app: TextOrNull = at("subject", "app")
    """`null` for a tenant and for the environments."""


class Why(Part):
    """Why something differs."""

    meant: bool = at("reason", "is_meant")
    """Whether the file writes the difference for an environment."""
    reason: str = at("reason", "text")
    origins: list[Origin] = at("reason", "origins")
    """The places that decide."""


class MissingApp(Why, Subject):
    """An app or add-on that only one environment has."""

    only_in: str
    """The environment that has it."""


class ComparedValue(Part):
    """A value in one environment."""

    value: ValueOrAbsent
    """Omitted if nothing sets it. Secrets are hidden."""
    clusters: list[str]
    """The clusters of the first subject that have it."""


class SettingThatDiffers(Why):
    """A setting that differs in the same way for all subjects."""

    path: list[str | int]
    """Keys and indexes of the setting; `source` begins a setting of an app's source, whatever its name."""
    subjects: list[Subject]
    first: list[ComparedValue]
    """What the first environment has: several values where its clusters differ."""
    second: list[ComparedValue]


class ComparedApps(Part):
    """How many apps and add-ons are compared."""

    compared: int
    """Those that both environments have."""
    equal: int


class Parity(Document):
    """What differs between two environments: `tenantry parity`."""

    kind: Literal["Parity"] = "Parity"
    environments: list[str]
    """The first and the second."""
    equal: bool
    """Whether nothing differs."""
    apps: ComparedApps
    missing: list[MissingApp]
    differences: list[SettingThatDiffers]
