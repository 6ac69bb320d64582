"""The difference between two plans of an environment: by object identity, and by its meaning for tenants, apps and clusters.

Pure, as plans are: it contacts no cluster, so it does not see what somebody changed on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, NamedTuple, TypeVar

from tenantry.compare.fields import FieldChange, changed_fields, is_same
from tenantry.compare.moves import (
    ChangedRollout,
    Moved,
    Place,
    Rehomed,
    Replaced,
    Widened,
    changed_rollouts,
    key_of,
    moved_tenants,
    places_of,
    recreated_namespaces,
    rehomed_clusters,
    replaced_apps,
)
from tenantry.kube.objects import KubeObject, ObjectId, labels_of
from tenantry.plan.after import After
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.plan import PROTECTED, Permit, Plan, nothing_of
from tenantry.plan.planned_apps import PlannedApp

_T = TypeVar("_T")


class Status(StrEnum):
    """Whether an environment was added, removed or kept."""

    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


class TenantOnCluster(NamedTuple):
    """A tenant on a cluster."""

    tenant: str
    cluster: str


class Deletions(NamedTuple):
    """How many of each are removed, or deleted and created again elsewhere. Add-ons count as apps.

    The namespaces of a removed tenant count, and a placement's namespaces stand for its apps. The guard decides what may be
    removed.
    """

    tenants: int
    namespaces: int
    apps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What only one of the two plans holds, in its order.

    clusters: those on which the other plan has nothing. apps: add-ons have the tenant "".
    """

    tenants: tuple[str, ...]
    clusters: tuple[str, ...]
    placements: tuple[TenantOnCluster, ...]
    namespaces: tuple[Place, ...]
    apps: tuple[PlannedApp, ...]
    objects: tuple[KubeObject, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """An object that both plans hold; at least one field differs."""

    json_keys: ClassVar = ("id", "fields")
    before: KubeObject
    after: KubeObject
    fields: tuple[FieldChange, ...]

    @property
    def id(self) -> ObjectId:
        return self.after.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """management: the management cluster before and after; unchanged: how many objects are the same.

    recreated: namespaces that both plans have, but that are deleted and created again.
    allowed: tenants that may give `cluster-admin` from now on; widened: those that are granted more. Neither changes an
    object by itself.
    permitted: what the file permits from now on.
    rollouts: those that differ. after: the gate to the environment before, before and after.
    order: the environment before, before and after.
    protection: whether Pulumi refuses to delete the environment's tenants and apps, before and after.
    """

    environment: str
    status: Status
    management: tuple[str, str]
    removed: Share
    added: Share
    changed: tuple[Changed, ...]
    replaced: tuple[Replaced, ...]
    moved: tuple[Moved, ...]
    rehomed: tuple[Rehomed, ...]
    recreated: tuple[Place, ...]
    allowed: tuple[str, ...]
    unchanged: int
    widened: tuple[Widened, ...] = ()
    protection: tuple[bool, bool] = (False, False)
    permitted: tuple[Permit, ...] = ()
    rollouts: tuple[ChangedRollout, ...] = ()
    after: tuple[After | None, After | None] = (None, None)
    order: tuple[str | None, str | None] = (None, None)

    @property
    def elsewhere(self) -> bool:
        """Whether the environment gets another management cluster, so that every object is another one."""
        return self.management[0] != self.management[1]

    @property
    def unprotected(self) -> bool:
        """Whether an environment that stays loses its protection."""
        return self.protection == (True, False) and self.status is Status.KEPT

    @property
    def protects(self) -> bool:
        """Whether an environment that stays gets protection."""
        return self.protection == (False, True) and self.status is Status.KEPT

    @property
    def regates(self) -> bool:
        """Whether an environment that stays gets another place in the order, or gets, changes or loses its gate."""
        return (self.after[0] != self.after[1] or self.order[0] != self.order[1]) and self.status is Status.KEPT

    def __bool__(self) -> bool:
        """Whether there is any difference."""
        objects = self.removed.objects or self.added.objects or self.changed
        kept = self.status is Status.KEPT and not (self.protects or self.unprotected or self.regates)
        kept = kept and not self.elsewhere
        return bool(not kept or objects or self.allowed or self.widened or self.permitted or self.rollouts)

    @property
    def deletions(self) -> Deletions:
        removed = self.removed
        apps = sum((app.tenant, app.cluster) not in removed.placements for app in removed.apps)
        namespaces = len(removed.namespaces) + len(self.recreated)
        return Deletions(len(removed.tenants), namespaces, apps + len(self.replaced))


def diff(before: Plan, after: Plan) -> Diff:
    """All differences between two plans of an environment. The order of creation is not a difference."""
    return _diff(before, after, Status.KEPT)


def diff_all(
    before: Mapping[str, Plan], after: Mapping[str, Plan], grants: Mapping[str, tuple[Widened, ...]] | None = None
) -> tuple[Diff, ...]:
    """All environments in the order of `after`, then those that only `before` has. Args: grants: what is granted more."""
    wider = grants or {}
    kept_or_added = (
        replace(diff(before[name], plan), widened=wider.get(name, ()))
        if name in before
        else _diff(nothing_of(plan), plan, Status.ADDED)
        for name, plan in after.items()
    )
    removed = (_diff(plan, nothing_of(plan), Status.REMOVED) for name, plan in before.items() if name not in after)
    return (*kept_or_added, *removed)


def _diff(before: Plan, after: Plan, status: Status) -> Diff:
    # Another management cluster is another API server: the same identity there is a different object.
    kept = before.management == after.management
    old, new = _by_id(before), _by_id(after)
    both = [(old[id], new[id]) for id in new if kept and id in old]
    changed = tuple(found for pair in both if (found := _changed(*pair)))
    replaced = replaced_apps(before, after, kept=kept)
    rehomed = rehomed_clusters(after, replaced) if kept else ()
    return Diff(
        environment=after.environment,
        status=status,
        management=(before.management, after.management),
        removed=_share(before, after, [each for id, each in old.items() if not (kept and id in new)]),
        added=_share(after, before, [each for id, each in new.items() if not (kept and id in old)]),
        changed=changed,
        replaced=replaced,
        moved=moved_tenants(before, after),
        rehomed=rehomed,
        recreated=recreated_namespaces(before, after, rehomed, kept=kept),
        allowed=_only(_allowed(after), _allowed(before)),
        unchanged=len(both) - len(changed),
        protection=_protection(before, after),
        permitted=_only(after.permits, before.permits),
        rollouts=tuple(changed_rollouts(before, after)),
        after=(before.after, after.after),
        order=(before.before, after.before),
    )


def _protection(before: Plan, after: Plan) -> tuple[bool, bool]:
    """Whether each side is protected. A side without anything that could be protected is like the other one."""
    one, other = (
        next(
            (
                each.protect
                for each in plan.objects
                if each.id.kind in PROTECTED and STATE_LABEL not in labels_of(each.manifest)
            ),
            None,
        )
        for plan in (before, after)
    )
    return bool(other if one is None else one), bool(one if other is None else other)


def _by_id(plan: Plan) -> dict[ObjectId, KubeObject]:
    return {planned.id: planned for planned in plan.objects}


def _changed(before: KubeObject, after: KubeObject) -> Changed | None:
    if before is after:
        return None
    if before.secret == after.secret and is_same(before.manifest, after.manifest):
        return None
    fields = tuple(changed_fields(_content(before), _content(after)))
    return Changed(before, after, fields) if fields else None


def _content(object: KubeObject) -> dict[str, object]:
    """The manifest, and for a Secret the names of its values: a plan knows no more than that."""
    if object.secret is None:
        return dict(object.manifest)
    names = {"path": list(object.secret.path), "keys": list(object.secret.keys), "registry": object.secret.registry}
    return {**object.manifest, "values": names}


def _share(own: Plan, other: Plan, objects: Iterable[KubeObject]) -> Share:
    apps = {key_of(app) for app in other.apps}
    return Share(
        tenants=_only(_tenants(own), _tenants(other)),
        clusters=_only(_clusters(own), _clusters(other)),
        placements=_only(_placements(own), _placements(other)),
        namespaces=_only(places_of(own), places_of(other)),
        apps=tuple(app for app in own.apps if key_of(app) not in apps),
        objects=tuple(objects),
    )


def _only(own: Iterable[_T], other: Iterable[_T]) -> tuple[_T, ...]:
    """What is in the first alone, each once, in its order."""
    there = set(other)
    return tuple(each for each in dict.fromkeys(own) if each not in there)


def _allowed(plan: Plan) -> list[str]:
    """The tenants that may give `cluster-admin`, whether they do or not."""
    return [placement.tenant for placement in plan.placements if placement.cluster_admin]


def _tenants(plan: Plan) -> list[str]:
    return [placement.tenant for placement in plan.placements]


def _clusters(plan: Plan) -> list[str]:
    """The clusters that objects belong to, in the order of the plan."""
    return [cluster for planned in plan.objects for cluster in (planned.owner.cluster,) if cluster]


def _placements(plan: Plan) -> list[TenantOnCluster]:
    return [TenantOnCluster(placement.tenant, placement.cluster) for placement in plan.placements]
