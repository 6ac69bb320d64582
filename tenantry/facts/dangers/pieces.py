"""A danger of one subject on one cluster, and the difference of two plans object by object, by which dangers are judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from tenantry.facts.facts import THE_PLATFORM, Homes, Kind, Subject, Where, together
from tenantry.facts.objects import Changed, Difference
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, group_of, readable_id
from tenantry.messages.data import mappings_in, value_at
from tenantry.messages.text import grouped
from tenantry.plan.plan import Plan


class DangerKind(StrEnum):
    """Why a reviewer has to look twice, the worst first."""

    RIGHTS = "rights"
    DELETION = "deletion"
    REINSTALLATION = "reinstallation"
    KUBECONFIG = "kubeconfig"
    NAMESPACE = "namespace"
    PROTECTION = "protection"
    NETWORK = "network"
    POD_SECURITY = "pod-security"
    ADOPTION = "adoption"
    ROLLOUT = "rollout"
    GATE = "gate"
    QUOTA = "quota"
    LIMITS = "limits"


class ClusterDanger(NamedTuple):
    """A danger of one subject on one cluster. cluster: "" for none in particular. text: says what happens, without either."""

    kind: DangerKind
    subject: Subject
    cluster: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """The same danger of all these subjects on all these clusters."""

    kind: DangerKind
    where: Where
    text: str


_KINDS = list(DangerKind)


def by_kind(danger: Danger) -> int:
    """The place of a danger among others, the worst first."""
    return _KINDS.index(danger.kind)


def joined(every: Iterable[ClusterDanger], homes: Homes) -> tuple[Danger, ...]:
    """The dangers, the worst first, each once for all subjects and clusters that have it."""
    lines = (((danger.kind, danger.text), danger.subject, danger.cluster) for danger in dict.fromkeys(every))
    dangers = [Danger(kind=kind, where=where, text=text) for (kind, text), where in together(lines, homes)]
    # A stable sort: dangers of a kind stay in the order of the plan.
    return tuple(sorted(dangers, key=by_kind))


def of_owner(kind: DangerKind, owner: Owner, text: str) -> ClusterDanger:
    """A danger of the tenant that an object belongs to, or of the platform."""
    subject = Subject(Kind.TENANT, owner.tenant) if owner.tenant else THE_PLATFORM
    return ClusterDanger(kind, subject, owner.cluster, text)


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

    def danger(self, kind: DangerKind, text: str) -> ClusterDanger:
        """A danger of its tenant, or of the platform."""
        return of_owner(kind, self.key.owner, text)


class Pieces:
    """The difference of two plans, object by object.

    placements, namespaces: those of all placements, before and after.
    moved: the main namespaces of placements that get another name, before and after.
    """

    def __init__(self, diff: Difference) -> None:
        self.diff, self.before, self.after = diff, diff.before, diff.after
        plans = (diff.before, diff.after)
        # What apps and add-ons install is not in a plan, whatever their values say.
        self._apps = frozenset(app.id for plan in plans for app in plan.apps)
        old, new = self.placements = tuple(
            {Owner(placement.tenant, placement.cluster): placement for placement in plan.placements} for plan in plans
        )
        namespaces = [
            frozenset((owner, name) for owner, placement in side.items() for name in placement.namespaces)
            for side in (old, new)
        ]
        self.namespaces = namespaces[0], namespaces[1]
        names = {owner: (old[owner].namespace, new[owner].namespace) for owner in old if owner in new}
        self.moved = {owner: (before, after) for owner, (before, after) in names.items() if before != after}
        moved = {(owner, name) for owner, names in self.moved.items() for name in names}
        # Namespaces that only one plan has. A renamed one is in both.
        self._fleeting = (namespaces[0] ^ namespaces[1]) - moved
        clusters = [{Owner("", planned.owner.cluster) for planned in plan.objects} | {Owner()} for plan in plans]
        self._kept = (old.keys() & new.keys()) | (clusters[0] & clusters[1])

    @cached_property
    def all(self) -> list[Piece]:
        """Every object that differs, each once."""
        old = {key: manifest for planned in self.diff.removed for key, manifest in self._keyed(planned)}
        new = {key: manifest for planned in self.diff.added for key, manifest in self._keyed(planned)}
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
        before, after = (dict(self._keyed(planned)) for planned in (changed.before, changed.after))
        for inner in dict.fromkeys((*before, *after)):
            if inner != key and before.get(inner) != after.get(inner):
                old |= {inner: before[inner]} if inner in before else {}
                new |= {inner: after[inner]} if inner in after else {}

    def keeps(self, owner: Owner, namespace: str) -> bool:
        """Whether both plans have a placement, or a cluster for the platform, and a namespace of it."""
        return owner in self._kept and (owner, namespace) not in self._fleeting

    def of_kinds(self, *kinds: str) -> list[Piece]:
        return [piece for kind in kinds for piece in self._by_kind.get(kind, ())]

    @cached_property
    def _by_kind(self) -> Mapping[str, list[Piece]]:
        # A fleet's setting can change every app, and no object of any kind that is asked for.
        return grouped(self.all, lambda piece: piece.key.kind)

    def around(self, pieces: Iterable[Piece], *kinds: str) -> tuple[Mapping[Key, Manifest], Mapping[Key, Manifest]]:
        """All objects of these kinds of the pieces' owners, before and after, the unchanged ones too."""
        owners, wanted = {piece.key.owner for piece in pieces}, frozenset(kinds)
        old, new = ({}, {}) if not owners else (self._of(plan, owners, wanted) for plan in (self.before, self.after))
        return old, new

    def _of(self, plan: Plan, owners: set[Owner], kinds: frozenset[str]) -> dict[Key, Manifest]:
        own = (planned for planned in plan.objects if planned.owner in owners)
        return {key: manifest for planned in own for key, manifest in self._keyed(planned) if key.kind in kinds}

    def _keyed(self, planned: KubeObject) -> Iterator[tuple[Key, Manifest]]:
        """The object, and what it installs if it is the release of a baseline."""
        yield self._key(planned.owner, planned.id), planned.manifest
        if planned.id.kind == "HelmRelease" and planned.id not in self._apps:
            for manifest in mappings_in(value_at(planned.manifest, _INSTALLED)):
                if id := readable_id(manifest):
                    yield self._key(planned.owner, id), manifest

    def _key(self, owner: Owner, id: ObjectId) -> Key:
        former, name = self.moved.get(owner, ("", ""))
        namespace = name if former and id.namespace == former else id.namespace
        is_renamed = former and id.kind == "Namespace" and id.name == former
        return Key(owner, group_of(id.api_version), id.kind, namespace, name if is_renamed else id.name)
