"""The shape of a review: environments, dangers, tenants, and their changes with the clusters where they take effect.

A review accounts for every object of the difference: each added, removed or changed one is in `objects` of exactly one change.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tenantry.compare.diff import Diff, Status
from tenantry.compare.fields import FieldChange
from tenantry.kube.objects import ObjectId
from tenantry.rollout.waves import Rollout


class Effect(StrEnum):
    """What happens to a part of the fleet. RENAMED: it is removed and, under another name, added again."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"


class PartKind(StrEnum):
    """What a change is about."""

    TENANT = "tenant"
    APP = "app"
    ADDON = "addon"
    SOURCE = "source"
    NAMESPACE = "namespace"
    SETTINGS = "settings"
    CLUSTER = "cluster"
    ENVIRONMENT = "environment"


APPS = (PartKind.APP, PartKind.ADDON)


class DangerKind(StrEnum):
    """Why a reviewer has to look twice."""

    RIGHTS = "rights"
    NETWORK = "network"
    QUOTA = "quota"
    LIMITS = "limits"
    POD_SECURITY = "pod-security"
    NAMESPACE = "namespace"
    KUBECONFIG = "kubeconfig"
    DELETION = "deletion"
    PROTECTION = "protection"
    ADOPTION = "adoption"
    RENAME = "rename"
    REINSTALLATION = "reinstallation"
    RESTART = "restart"
    ROLLOUT = "rollout"
    GATE = "gate"


class Part(NamedTuple):
    """tenant: "" for the platform's own. name: an app, a source, a namespace or a cluster; "" for settings.

    The name of several clusters is a list in words; `Change.clusters` has all of them.
    """

    kind: PartKind
    tenant: str
    name: str


class Setting(NamedTuple):
    """A value that changes. key: as the author would write it, such as `helm.version`; before, after: or ABSENT."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The same change of one part on all of these clusters.

    was: its former name, if it is renamed.
    clusters: where it takes effect, in the order of the plan; of: on how many clusters the part is, before or after.
    sentences: what happens, without full stops, if `settings` do not say it; objects: those behind it;
    fields: where no setting's name is known. The first part of their paths is the object, such as `HelmRelease`.
    """

    part: Part
    effect: Effect
    was: str = ""
    clusters: tuple[str, ...]
    of: int
    sentences: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    objects: tuple[ObjectId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """A sentence without a full stop. tenants and clusters: whom it concerns; tenants are empty for the platform.

    everywhere: the sentence without the names of the clusters, if it concerns the tenants wherever they are; otherwise "".
    anywhere: the sentence without saying where; the text, if it says nothing of that.
    """

    kind: DangerKind
    text: str
    everywhere: str = ""
    anywhere: str = ""
    tenants: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantReview:
    """A tenant, or the platform if `tenant` is "". sentences: what happens to it as a whole, without full stops.

    was: its former name, if it is renamed. of_class: the class of the tenant that changes; what else changes has a review of
    its own.
    """

    tenant: str
    effect: Effect
    was: str = ""
    of_class: str = ""
    sentences: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


class RolledOut(NamedTuple):
    """The rollout that a change goes through. clusters: those that change in each wave, by the wave's number."""

    rollout: Rollout
    clusters: dict[int, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentReview:
    """An environment with a difference.

    clusters: what happens to whole clusters; before them, what happens to the environment as a whole.
    total: how many clusters the environment has, before or after, whichever is more.
    waves: those that the change goes through.
    """

    environment: str
    status: Status
    diff: Diff
    total: int
    dangers: tuple[Danger, ...] = ()
    clusters: tuple[Change, ...] = ()
    tenants: tuple[TenantReview, ...] = ()
    waves: RolledOut | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """unchanged: the names of the environments without a difference, in the order of the file."""

    environments: tuple[EnvironmentReview, ...]
    unchanged: tuple[str, ...]
