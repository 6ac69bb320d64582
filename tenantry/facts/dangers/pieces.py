"""The difference of two plans object by object, with what the releases of baselines install.

On the management cluster the objects are in the plan; on a remote cluster they stand in the values of a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tenantry.facts.objects import Changed, Difference
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, group_of, readable_id
from tenantry.messages.data import mappings_in, value_at
from tenantry.plan.plan import Plan

_INSTALLED = ("spec", "values", "objects")


class Key(NamedTuple):
    """An object on a cluster. namespace: as it is called after the change, also for an object of a renamed one."""

    owner: Owner
    group: str
    kind: str
    namespace: str
    name: str


class Piece(NamedTuple):
    """An object that is added (before is None), removed (after is None) or changed.

    kept: both plans have its placement and its namespace.
    """

    key: Key
    before: Manifest | None
    after: Manifest | None
    kept: bool


@dataclass(frozen=True)
class Pieces:
    """The difference of two plans, object by object."""

    diff: Difference

    @property
    def before(self) -> Plan:
        return self.diff.before

    @property
    def after(self) -> Plan:
        return self.diff.after

    @cached_property
    def moved(self) -> Mapping[Owner, tuple[str, str]]:
        """The main namespaces of placements that get another name, before and after."""
        new = {Owner(placement.tenant, placement.cluster): placement.namespace for placement in self.after.placements}
        old = {Owner(placement.tenant, placement.cluster): placement.namespace for placement in self.before.placements}
        return {owner: (old[owner], new[owner]) for owner in old if owner in new and old[owner] != new[owner]}

    @cached_property
    def apps(self) -> frozenset[ObjectId]:
        """What stands for an app or an add-on. What these install is not in a plan, whatever their values say."""
        return frozenset(app.id for plan in (self.before, self.after) for app in plan.apps)

    @cached_property
    def namespaces(self) -> tuple[frozenset[tuple[Owner, str]], frozenset[tuple[Owner, str]]]:
        """The namespaces of all placements, before and after."""
        old, new = (
            frozenset(
                (Owner(placement.tenant, placement.cluster), name)
                for placement in plan.placements
                for name in placement.namespaces
            )
            for plan in (self.before, self.after)
        )
        return old, new

    @cached_property
    def _fleeting(self) -> frozenset[tuple[Owner, str]]:
        """Namespaces that only one plan has. A renamed one is in both."""
        moved = {(owner, name) for owner, names in self.moved.items() for name in names}
        return (self.namespaces[0] ^ self.namespaces[1]) - moved

    @cached_property
    def _kept(self) -> frozenset[Owner]:
        """The owners in both plans: placements, and clusters for the platform."""
        old, new = ({Owner(*owner) for owner in _owners(plan)} for plan in (self.before, self.after))
        return frozenset(old & new)

    @cached_property
    def all(self) -> list[Piece]:
        """Every object that differs, each once."""
        old: dict[Key, Manifest] = {}
        new: dict[Key, Manifest] = {}
        for planned in self.diff.removed:
            old |= self._keyed(planned)
        for planned in self.diff.added:
            new |= self._keyed(planned)
        for changed in self.diff.changed:
            self._add_changed(changed, old, new)
        keys = dict.fromkeys((*old, *new))
        return [Piece(key, old.get(key), new.get(key), self.keeps(key.owner, key.namespace)) for key in keys]

    def _add_changed(self, changed: Changed, old: dict[Key, Manifest], new: dict[Key, Manifest]) -> None:
        key = self._key(changed.after.owner, changed.id)
        old[key], new[key] = changed.before.manifest, changed.after.manifest
        # Most changes are of fields that concern nothing within, and there can be very many.
        if all(field.path[: len(_INSTALLED)] != _INSTALLED[: len(field.path)] for field in changed.fields):
            return
        before, after = (self._keyed(planned) for planned in (changed.before, changed.after))
        for inner in dict.fromkeys((*before, *after)):
            if inner != key and before.get(inner) != after.get(inner):
                old |= {inner: before[inner]} if inner in before else {}
                new |= {inner: after[inner]} if inner in after else {}

    def keeps(self, owner: Owner, namespace: str) -> bool:
        """Whether both plans have a placement, or a cluster for the platform, and a namespace of it."""
        return owner in self._kept and (owner, namespace) not in self._fleeting

    def of_kinds(self, *kinds: str) -> list[Piece]:
        wanted = frozenset(kinds)
        # A fleet's setting can change every app, and no object of any kind that is asked for.
        return [] if wanted.isdisjoint(self.kinds) else [piece for piece in self.all if piece.key.kind in wanted]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the objects that differ."""
        return frozenset(piece.key.kind for piece in self.all)

    def around(self, pieces: Iterable[Piece], *kinds: str) -> tuple[Mapping[Key, Manifest], Mapping[Key, Manifest]]:
        """All objects of these kinds of the pieces' owners, before and after, the unchanged ones too."""
        owners, wanted = {piece.key.owner for piece in pieces}, frozenset(kinds)
        old, new = ({}, {}) if not owners else (self._of(plan, owners, wanted) for plan in (self.before, self.after))
        return old, new

    def _of(self, plan: Plan, owners: set[Owner], kinds: frozenset[str]) -> dict[Key, Manifest]:
        own = (planned for planned in plan.objects if planned.owner in owners)
        return {key: manifest for planned in own for key, manifest in self._keyed(planned).items() if key.kind in kinds}

    def _keyed(self, planned: KubeObject) -> dict[Key, Manifest]:
        return {self._key(planned.owner, id): manifest for id, manifest in self._expanded(planned)}

    def _expanded(self, planned: KubeObject) -> Iterator[tuple[ObjectId, Manifest]]:
        yield planned.id, planned.manifest
        if planned.id.kind == "HelmRelease" and planned.id not in self.apps:
            for manifest in mappings_in(value_at(planned.manifest, _INSTALLED)):
                if id := readable_id(manifest):
                    yield id, manifest

    def _key(self, owner: Owner, id: ObjectId) -> Key:
        former, name = self.moved.get(owner, ("", ""))
        namespace = name if former and id.namespace == former else id.namespace
        is_renamed = former and id.kind == "Namespace" and id.name == former
        return Key(owner, group_of(id.api_version), id.kind, namespace, name if is_renamed else id.name)


def _owners(plan: Plan) -> Iterator[tuple[str, str]]:
    yield from ((placement.tenant, placement.cluster) for placement in plan.placements)
    yield from dict.fromkeys(("", planned.owner.cluster) for planned in plan.objects)
    yield "", ""
