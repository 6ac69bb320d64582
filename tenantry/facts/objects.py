"""Which objects differ between two plans of an environment, or between what was read and what is planned."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Generic, NamedTuple, TypeVar

from tenantry.facts.fields import FieldChange, changed_fields, is_same
from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.plan.plan import Plan, nothing_of

_Key = TypeVar("_Key", bound=Hashable)


class Status(StrEnum):
    """Whether an environment was added, removed or kept."""

    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Changed:
    """An object on both sides. fields: those that differ."""

    json_keys: ClassVar = ("id", "fields")
    before: KubeObject
    after: KubeObject
    fields: tuple[FieldChange, ...]

    @property
    def id(self) -> ObjectId:
        return self.after.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The objects of one environment that differ. before, after: its plans, without objects where it is not declared.

    On another management cluster the same identity is another object, so every object is removed and added.
    """

    status: Status
    before: Plan
    after: Plan
    removed: tuple[KubeObject, ...]
    added: tuple[KubeObject, ...]
    changed: tuple[Changed, ...]
    unchanged: int

    @property
    def environment(self) -> str:
        return self.after.environment

    @property
    def elsewhere(self) -> bool:
        """Whether the environment gets another management cluster."""
        return self.before.management != self.after.management

    @property
    def objects(self) -> bool:
        """Whether any object differs."""
        return bool(self.removed or self.added or self.changed)

    @property
    def owners(self) -> frozenset[Owner]:
        """Whose objects differ."""
        changed = (changed.after for changed in self.changed)
        return frozenset(object.owner for object in (*self.removed, *self.added, *changed))


def differences(before: Mapping[str, Plan], after: Mapping[str, Plan]) -> tuple[Difference, ...]:
    """All environments in the order of `after`, then those that only `before` has."""
    kept_or_added = (
        difference(before.get(name) or nothing_of(plan), plan, Status.KEPT if name in before else Status.ADDED)
        for name, plan in after.items()
    )
    removed = (difference(plan, nothing_of(plan), Status.REMOVED) for name, plan in before.items() if name not in after)
    return (*kept_or_added, *removed)


def difference(before: Plan, after: Plan, status: Status = Status.KEPT) -> Difference:
    """The objects that differ. The order of creation is not a difference."""
    compared_objects = compared(
        *({(plan.management, object.id): object for object in plan.objects} for plan in (before, after))
    )
    changed = tuple(pair for pair in compared_objects.both.values() if pair.fields)
    return Difference(
        status=status,
        before=before,
        after=after,
        removed=tuple(compared_objects.removed.values()),
        added=tuple(compared_objects.added.values()),
        changed=changed,
        unchanged=len(compared_objects.both) - len(changed),
    )


class Compared(NamedTuple, Generic[_Key]):
    """The objects of one side alone, of the other alone, and of both, each in the order of its side."""

    removed: dict[_Key, KubeObject]
    added: dict[_Key, KubeObject]
    both: dict[_Key, Changed]


def compared(before: Mapping[_Key, KubeObject], after: Mapping[_Key, KubeObject]) -> Compared[_Key]:
    """The objects of two sides by their identity."""
    return Compared(
        {key: object for key, object in before.items() if key not in after},
        {key: object for key, object in after.items() if key not in before},
        {
            key: Changed(before[key], object, _fields(before[key], object))
            for key, object in after.items()
            if key in before
        },
    )


def _fields(before: KubeObject, after: KubeObject) -> tuple[FieldChange, ...]:
    if before is after or (before.secret == after.secret and is_same(before.manifest, after.manifest)):
        return ()
    return tuple(changed_fields(_content(before), _content(after)))


def _content(object: KubeObject) -> dict[str, object]:
    """The manifest, and for a Secret the names of its values: a plan knows no more than that."""
    if object.secret is None:
        return dict(object.manifest)
    names = {"path": list(object.secret.path), "keys": list(object.secret.keys), "registry": object.secret.registry}
    return {**object.manifest, "values": names}
