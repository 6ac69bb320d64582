"""The document of `tenantry diff`."""

from __future__ import annotations

from typing import Annotated, Literal

from tenantry.cli.documents.common import (
    OMITTED_IF_EMPTY,
    OMITTED_IF_NULL,
    ChangedObject,
    Document,
    Field,
    ObjectId,
    Part,
    TextOrNull,
    ValueOrAbsent,
    at,
)


class Base(Part):
    """What the file was compared with."""

    name: str
    commit: TextOrNull
    """The commit's hash; `null` for a file."""


class Counts(Part):
    """How many objects of an environment are added, changed, removed and unchanged."""

    added: int
    changed: int
    removed: int
    unchanged: int


class Setting(Part):
    """A value that changes, as the file has it."""

    key: str
    """Such as `helm.version`."""
    before: ValueOrAbsent
    """Omitted if there was no value."""
    after: ValueOrAbsent
    """Omitted if there is no value."""


class Change(Part):
    """The same change of one part of the fleet, on all clusters where it takes effect."""

    kind: str = at("part", "kind")
    """What changes: `tenant`, `app`, `addon`, `source`, `namespace`, `settings`, `cluster`, `environment`; others can be added."""
    name: str = at("part", "name")
    """Of the app, source, namespace, group of settings or cluster."""
    effect: Literal["added", "removed", "changed", "renamed"]
    was: str
    """Its former name; empty if it is not renamed."""
    clusters: list[str]
    of: int
    """On how many clusters the part is, before or after."""
    sentences: list[str]
    """What happens, if `settings` do not say it."""
    settings: list[Setting]
    fields: list[Field]
    """Where no setting's name is known. The first part of a path is the object's kind."""
    objects: list[ObjectId]
    """The objects behind the change. Each object that differs is in exactly one change."""


class Danger(Part):
    """Why a reviewer has to look twice."""

    kind: str
    """Such as `rights`, `quota`, `kubeconfig`, `deletion` or `rename`; others can be added."""
    text: str
    tenants: list[str]
    clusters: list[str]


class TenantReview(Part):
    """What happens to a tenant."""

    tenant: TextOrNull
    """`null` for the platform."""
    effect: Literal["added", "removed", "changed", "renamed"]
    was: str
    """Its former name; empty if it is not renamed."""
    sentences: list[str]
    """What happens to it as a whole."""
    changes: list[Change]


class ClassReview(Part):
    """What a change of a class does to its tenants."""

    name: str
    tenants: list[str]
    """Those for which all of it is the same."""
    changes: list[Change]
    """Each with the objects and the clusters of all of these tenants."""


class TouchedWave(Part):
    """A wave in which clusters change."""

    number: int
    """In the whole rollout, from 1."""
    name: str
    """As written, or `wave 2`."""
    clusters: list[str]
    """Those that the change reaches in this wave."""


class RolledOut(Part):
    """The rollout that the change goes through."""

    total: int
    """How many waves the rollout has."""
    waves: list[TouchedWave]
    """Those in which something changes, in their order."""


class Review(Part):
    """What happens to whom in an environment."""

    clusters: int
    """How many clusters the environment has."""
    dangers: list[Danger]
    rollout: Annotated[RolledOut | None, OMITTED_IF_NULL] = None
    """Omitted if the change goes through no waves."""
    changed_clusters: list[Change]
    """What happens to whole clusters, and to the environment."""
    classes: Annotated[list[ClassReview], OMITTED_IF_EMPTY] = []
    """Omitted if no class changes."""
    tenants: list[TenantReview]
    """Without what is told of their classes."""


class Placement(Part):
    """A namespace of a tenant on a cluster."""

    tenant: str
    cluster: str
    namespace: str


class AppOnCluster(Part):
    """An app on a cluster."""

    tenant: str
    cluster: str
    app: str = at("name")


class AddonOnCluster(Part):
    """An add-on on a cluster."""

    cluster: str
    addon: str = at("name")


class Share(Part):
    """What is added, or removed."""

    tenants: list[str]
    clusters: list[str]
    namespaces: list[Placement]
    apps: list[AppOnCluster]
    addons: list[AddonOnCluster]
    objects: list[ObjectId]


class Replaced(Part):
    """An app that stays on its cluster and gets another object."""

    tenant: TextOrNull = at("before", "tenant")
    """`null` for an add-on."""
    cluster: str = at("before", "cluster")
    app: str = at("before", "name")
    before: ObjectId
    after: ObjectId


class Deletions(Part):
    """How much the limit of removals counts."""

    tenants: int
    namespaces: int
    apps: int


class Refusal(Part):
    """A reason why `tenantry up` would refuse the change."""

    code: str
    """The kind of refusal, such as `removals`, which never changes its name; others can be added."""
    message: str
    fix: str
    """What to do about it; can be empty."""


class ChangedEnvironment(Part):
    """An environment on both sides."""

    environment: str
    status: Literal["kept", "added", "removed"]
    """Whether only one side declares it."""
    objects: Counts
    warnings: list[str]
    """The texts of the dangers."""
    review: Review | None
    """`null` if nothing differs."""
    removed: Share
    added: Share
    changed: list[ChangedObject]
    replaced: list[Replaced]
    deletions: Deletions
    max_deletions: int | str | None
    """The limit for each of `deletions`: a number, or a share such as `10%`; `null` if there is none."""
    refused: bool
    """Whether `tenantry up` would refuse the change."""
    refusals: list[Refusal]
    """Why; empty if it would not."""


class Diff(Document):
    """The difference between two versions of the file: `tenantry diff`."""

    kind: Literal["Diff"] = "Diff"
    base: Base
    environments: list[ChangedEnvironment]
    """In the order of the file; those that are no longer declared are last."""
    unchanged: list[str]
    """The environments without a difference."""
