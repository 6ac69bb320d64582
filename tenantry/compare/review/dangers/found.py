"""Dangers of single objects, and how equal ones of several tenants and clusters become one sentence.

On the management cluster the objects are in the plan; on a remote cluster they stand in the values of a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from tenantry.compare.diff import Changed, Diff
from tenantry.compare.review.model import Danger, DangerKind
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, group_of, readable_id
from tenantry.messages.data import mappings_in, value_at
from tenantry.messages.text import MOST_NAMES, counted, grouped, listed
from tenantry.plan.plan import Plan


class Rank(IntEnum):
    """How bad a danger is, the worst first."""

    EVERYTHING = 0
    """All of an environment or of a cluster."""
    ADMIN = 1
    """Rights without a bound."""
    DATA = 2
    """Things that are deleted with their data."""
    ACCESS = 3
    """More rights, less protection."""
    WALLS = 4
    """Networks and pod security."""
    WORK = 5
    """What may stop workloads."""


class Found(NamedTuple):
    """A danger for one tenant on one cluster. tenant: "" for the platform; cluster: "" for no cluster in particular.

    The sentence is: lead, who, verb, where, tail. lead: such as "the quota of "; verb: of two, for one tenant and for several;
    tail: begins with its own punctuation. who: instead of the tenant, such as an app; it is followed by the tenant in brackets.
    nobody: the sentence names nobody; nowhere: nor the clusters. at: the preposition before the clusters.
    """

    kind: DangerKind
    rank: Rank
    tenant: str
    cluster: str
    verb: str | tuple[str, str] = ""
    tail: str = ""
    lead: str = ""
    who: str = ""
    nobody: bool = False
    nowhere: bool = False
    at: str = "on"


Homes: TypeAlias = Mapping[tuple[str, str], Set[str]]
"""The clusters of a tenant, or of one of its apps: by the tenant and by what `Found.who` calls the app, or ""."""


def in_sentences(found: Iterable[Found], total: int, homes: Homes) -> list[Danger]:
    """The dangers, the worst first; those with the same words in one sentence. Args: total: how many clusters there are."""
    by_words = grouped(dict.fromkeys(found), lambda each: each._replace(tenant="", cluster=""))
    groups = [part for own in by_words.values() for part in _in_one_sentence(own, homes)]
    # A stable sort: equal ranks stay in the order of the plan.
    groups.sort(key=lambda own: (own[0].rank, -len(own)))
    return [_danger(own, total, homes) for own in groups]


def _in_one_sentence(found: Sequence[Found], homes: Homes) -> Iterator[list[Found]]:
    """Tenants with the same clusters together, and those that it concerns wherever they are.

    Otherwise the sentence would say what is not so.
    """
    by_tenant = grouped(found, lambda each: each.tenant)
    alike = grouped(by_tenant.values(), lambda own: frozenset(each.cluster for each in own))
    groups = [[each for tenant in own for each in tenant] for own in alike.values()]
    everywhere = [own for own in groups if _is_everywhere(own, homes)]
    if len(everywhere) > 1:
        yield [each for own in everywhere for each in own]
        groups = [own for own in groups if own not in everywhere]
    yield from groups


def _is_everywhere(found: Sequence[Found], homes: Homes) -> bool:
    """Whether the danger is on all clusters of the tenants that it concerns."""
    if found[0].nowhere:
        return False
    own = grouped(found, lambda each: (each.tenant, each.who))
    return all({each.cluster for each in group} == homes.get(key) for key, group in own.items())


def _danger(own: Sequence[Found], total: int, homes: Homes) -> Danger:
    tenants = tuple(dict.fromkeys(each.tenant for each in own if each.tenant))
    clusters = tuple(dict.fromkeys(each.cluster for each in own if each.cluster))
    first = own[0]
    verb = first.verb if isinstance(first.verb, str) else first.verb[len(tenants) > 1 and not first.who]
    told = f"{first.lead}{_whom(first, tenants)} {verb}".rstrip()
    where = "" if first.nowhere or not clusters else f" {first.at} {_clusters(clusters, total)}"
    everywhere = ""
    if _is_everywhere(own, homes):
        everywhere = f"{told} {first.at} all of {'its' if len(tenants) < 2 else 'their'} clusters{first.tail}"
    # Several tenants on different clusters are in one sentence only if it concerns them everywhere.
    differ = len(own) < len(tenants) * len(clusters)
    text = everywhere if differ else f"{told}{where}{first.tail}"
    return Danger(
        kind=first.kind,
        text=text,
        everywhere=everywhere,
        anywhere=f"{told}{first.tail}",
        tenants=tenants,
        clusters=clusters,
    )


def _whom(found: Found, tenants: Sequence[str]) -> str:
    if found.nobody:
        return ""
    if found.who:
        return f"{found.who} ({tenants_in_words(tenants)})" if tenants else found.who
    return tenants_in_words(tenants) if tenants else "the platform"


def tenants_in_words(tenants: Sequence[str]) -> str:
    """Such as "tenants 'rocky', 'movy'" or "200 tenants ('rocky', 'movy', 'tina' and 197 more)"."""
    quoted = [f"'{tenant}'" for tenant in tenants]
    if len(quoted) <= MOST_NAMES:
        return f"tenant{'' if len(quoted) == 1 else 's'} {listed(quoted)}"
    return f"{len(quoted)} tenants ({listed(quoted, 3)})"


def _clusters(clusters: Sequence[str], total: int) -> str:
    """Such as "hub, edge" or "479 of 501 clusters"."""
    if len(clusters) <= MOST_NAMES:
        return listed(clusters)
    return f"all {total} clusters" if len(clusters) == total else f"{len(clusters)} of {counted(total, 'cluster')}"


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

    @property
    def there(self) -> Manifest:
        """The object as it is, or was."""
        return self.after or self.before or {}


@dataclass(frozen=True)
class Pieces:
    """The difference of two plans, object by object."""

    diff: Diff
    before: Plan
    after: Plan

    @cached_property
    def apps(self) -> frozenset[ObjectId]:
        """What stands for an app or an add-on. What these install is not in a plan, whatever their values say."""
        return frozenset(app.id for plan in (self.before, self.after) for app in plan.apps)

    @cached_property
    def _fleeting(self) -> frozenset[tuple[Owner, str]]:
        """Namespaces that only one plan has. A renamed one is in both."""
        moved = {(each.tenant, each.cluster, name) for each in self.diff.moved for name in (each.before, each.after)}
        shares = (*self.diff.removed.namespaces, *self.diff.added.namespaces)
        return frozenset(
            (Owner(share.tenant, share.cluster), share.namespace) for share in shares if share not in moved
        )

    @cached_property
    def _kept(self) -> frozenset[Owner]:
        """The owners in both plans: placements, and clusters for the platform."""
        one, other = ({Owner(*owner) for owner in _owners(plan)} for plan in (self.before, self.after))
        return frozenset(one & other)

    @cached_property
    def all(self) -> list[Piece]:
        """Every object that differs, each once."""
        old: dict[Key, Manifest] = {}
        new: dict[Key, Manifest] = {}
        for each in self.diff.removed.objects:
            old |= self._keyed(each)
        for each in self.diff.added.objects:
            new |= self._keyed(each)
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
        before, after = (self._keyed(each) for each in (changed.before, changed.after))
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
        return [] if wanted.isdisjoint(self.kinds) else [each for each in self.all if each.key.kind in wanted]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the objects that differ."""
        return frozenset(each.key.kind for each in self.all)

    def around(self, pieces: Iterable[Piece], *kinds: str) -> tuple[Mapping[Key, Manifest], Mapping[Key, Manifest]]:
        """All objects of these kinds of the pieces' owners, before and after, the unchanged ones too."""
        owners, wanted = {piece.key.owner for piece in pieces}, frozenset(kinds)
        one, other = ({}, {}) if not owners else (self._of(plan, owners, wanted) for plan in (self.before, self.after))
        return one, other

    def _of(self, plan: Plan, owners: set[Owner], kinds: frozenset[str]) -> dict[Key, Manifest]:
        own = (planned for planned in plan.objects if planned.owner in owners)
        return {key: manifest for each in own for key, manifest in self._keyed(each).items() if key.kind in kinds}

    def _keyed(self, planned: KubeObject) -> dict[Key, Manifest]:
        return {self._key(planned.owner, id): manifest for id, manifest in self._expanded(planned)}

    def _expanded(self, planned: KubeObject) -> Iterator[tuple[ObjectId, Manifest]]:
        yield planned.id, planned.manifest
        if planned.id.kind == "HelmRelease" and planned.id not in self.apps:
            for manifest in installed_by(planned):
                if id := readable_id(manifest):
                    yield id, manifest

    def _key(self, owner: Owner, id: ObjectId) -> Key:
        if not self._renamed:
            return Key(owner, group_of(id.api_version), id.kind, id.namespace, id.name)
        renamed = self._renamed.get((owner, id.namespace), id.namespace)
        name = self._renamed.get((owner, id.name), id.name) if id.kind == "Namespace" else id.name
        return Key(owner, group_of(id.api_version), id.kind, renamed, name)

    @cached_property
    def _renamed(self) -> dict[tuple[Owner, str], str]:
        return {(Owner(each.tenant, each.cluster), each.before): each.after for each in self.diff.moved}


def installed_by(planned: KubeObject) -> list[Manifest]:
    """What a release of the fleet's own installs."""
    return [*mappings_in(value_at(planned.manifest, _INSTALLED))]


def _owners(plan: Plan) -> Iterator[tuple[str, str]]:
    yield from ((placement.tenant, placement.cluster) for placement in plan.placements)
    yield from dict.fromkeys(("", planned.owner.cluster) for planned in plan.objects)
    yield "", ""
