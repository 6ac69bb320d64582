"""Which objects differ between two plans of an environment, by their identity for the API server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tenantry.facts.fields import FieldChange, changed_fields, is_same
from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.plan.plan import Plan, nothing_of


class Status(StrEnum):
    """Whether an environment was added, removed or kept."""

    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


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
        changed = (each.after for each in self.changed)
        return frozenset(each.owner for each in (*self.removed, *self.added, *changed))


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
    kept = before.management == after.management
    old, new = ({planned.id: planned for planned in plan.objects} for plan in (before, after))
    both = [(old[id], new[id]) for id in new if kept and id in old]
    changed = tuple(found for pair in both if (found := _changed(*pair)))
    return Difference(
        status=status,
        before=before,
        after=after,
        removed=tuple(each for id, each in old.items() if not (kept and id in new)),
        added=tuple(each for id, each in new.items() if not (kept and id in old)),
        changed=changed,
        unchanged=len(both) - len(changed),
    )


def _changed(before: KubeObject, after: KubeObject) -> Changed | None:
    if before is after or (before.secret == after.secret and is_same(before.manifest, after.manifest)):
        return None
    fields = tuple(changed_fields(_content(before), _content(after)))
    return Changed(before, after, fields) if fields else None


def _content(object: KubeObject) -> dict[str, object]:
    """The manifest, and for a Secret the names of its values: a plan knows no more than that."""
    if object.secret is None:
        return dict(object.manifest)
    names = {"path": list(object.secret.path), "keys": list(object.secret.keys), "registry": object.secret.registry}
    return {**object.manifest, "values": names}
