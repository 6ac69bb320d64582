"""Which objects differ between two plans of an environment, or between what was read and what is planned, field by field."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.messages.data import ABSENT, value_at, written
from tenantry.messages.masking import Secrecy, masked_pair, secrecy_below
from tenantry.plan.plan import Plan, nothing_of


@dataclass(frozen=True, slots=True)
class FieldChange:
    """path: keys of mappings, and entries of lists by number.

    before, after: values or ABSENT. Secrets in them are masked, whoever shows them; see `messages.masking`.
    """

    path: tuple[str | int, ...]
    before: Any
    after: Any


def changed_fields(before: Any, after: Any) -> Iterator[FieldChange]:
    """The outermost values that differ, with their secrets masked; none for equal data, whatever the order of keys.

    True is not 1, and 1 is not 1.0.
    """
    for change in _changed(before, after, ()):
        secrecy = max(_secrecy(side, change.path) for side in (before, after))
        yield FieldChange(change.path, *masked_pair(change.before, change.after, secrecy))


def is_same(before: Any, after: Any) -> bool:
    """Whether two values are equal, with the same types and the same order of keys. `==` alone would treat True as 1."""
    return before is after or (before == after and (type(before) is str or written(before) == written(after)))


def _secrecy(data: Any, path: tuple[str | int, ...]) -> Secrecy:
    """How secret a changed value is, by the mappings and lists above it."""
    secrecy = Secrecy.UNKNOWN
    for part in path:
        secrecy = secrecy_below(data, part, secrecy)
        data = value_at(data, (part,))
    return secrecy


def _changed(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            old, new = before.get(key, ABSENT), after.get(key, ABSENT)
            if not is_same(old, new):
                yield from _changed(old, new, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _changed_entries(before, after, path)
    elif type(before) is not type(after) or before != after:
        yield FieldChange(path, before, after)


def _changed_entries(before: list[Any], after: list[Any], path: tuple[str | int, ...]) -> Iterator[FieldChange]:
    """The entries that differ, without the common beginning and end of both lists."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) == len(new):
        for number, (old_item, new_item) in enumerate(zip(old, new, strict=True), start):
            yield from _changed(old_item, new_item, (*path, number))
        return
    yield from (FieldChange((*path, number), item, ABSENT) for number, item in enumerate(old, start))
    yield from (FieldChange((*path, number), ABSENT, item) for number, item in enumerate(new, start))


def _alike(before: list[Any], after: list[Any]) -> int:
    """How many entries from the start are the same."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: next(_changed(*pair, ()), None) is None, pairs))


def projected(live: Any, wanted: Any) -> Any:
    """The part of live data that wanted data sets; list entries correspond by index."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {key: projected(live[key], part) for key, part in wanted.items() if key in live}
    if isinstance(live, list) and isinstance(wanted, list) and len(live) == len(wanted):
        return [projected(*pair) for pair in zip(live, wanted, strict=True)]
    return live


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

    @property
    def environment(self) -> str:
        return self.after.environment

    @property
    def elsewhere(self) -> bool:
        """Whether the environment gets another management cluster."""
        return self.before.management != self.after.management

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
    return Difference(
        status=status,
        before=before,
        after=after,
        removed=tuple(compared_objects.removed.values()),
        added=tuple(compared_objects.added.values()),
        changed=tuple(pair for pair in compared_objects.both.values() if pair.fields),
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
