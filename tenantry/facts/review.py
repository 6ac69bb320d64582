"""What a change of the file does in each environment: dangers, changed facts, and the objects behind them.

Changes and dangers that are the same in several environments are shown once, as sections.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from tenantry.facts.changes import Change, Effect, Occurrence, joined, occurrences
from tenantry.facts.dangers import Danger, dangers
from tenantry.facts.dangers.pieces import by_kind
from tenantry.facts.facts import CLUSTER, Facts, Kind, Subject, placed, share
from tenantry.facts.objects import Difference, FieldChange, Status, differences
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.text import counted, grouped
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import After, Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The clusters of a wave that change. number: from 1, among all waves of the environment."""

    number: int
    name: str
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectChange:
    """An object that differs. explained: whether a fact of its owner differs, too."""

    effect: Effect
    object: ObjectId
    explained: bool
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What happens in one environment.

    clusters: those on which anything differs; of: all of the environment, before or after. waves: those that the
    change goes through; of_waves: how many the environment has. after: the gate that it waits for.
    """

    environment: str
    status: Status
    dangers: tuple[Danger, ...]
    changes: tuple[Change, ...]
    objects: tuple[ObjectChange, ...]
    clusters: tuple[str, ...]
    of: tuple[str, ...]
    waves: tuple[Reach, ...] = ()
    of_waves: int = 0
    after: After | None = None

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.objects or self.changes or self.dangers or self.status is not Status.KEPT)


_PLACEMENT = ("clusters", "environments")
"""The keys that say on which clusters a subject is."""


class _Differing(NamedTuple):
    """What differs in an environment. moved: the subjects that are on other clusters than before."""

    diff: Difference
    homes: Mapping[Subject, Collection[str]]
    occurrences: tuple[Occurrence, ...]
    moved: frozenset[Subject]


def review(old: Fleet | None, new: Fleet, before: Mapping[str, Plan], after: Mapping[str, Plan]) -> tuple[Review, ...]:
    """The reviews of all environments. Args: old: None: there was no file; before, after: the plans by environment."""
    all_found = [_differing(old, new, difference) for difference in differences(before, after)]
    placing = {
        repr(value)
        for difference in all_found
        for occurrence in difference.occurrences
        if occurrence.subject in difference.moved
        for value in occurrence.values
        if value.path[0] in _PLACEMENT
    }
    return tuple(_review(old, new, change, placing) for change in all_found)


def _differing(old: Fleet | None, new: Fleet, diff: Difference) -> _Differing:
    name = diff.environment
    former_facts = Facts(old, diff.before) if old and name in old.environments else None
    facts = Facts(new, diff.after) if name in new.environments else None
    homes = _homes(former_facts, facts)
    if not facts:
        return _Differing(diff, homes, (), frozenset())
    former = former_facts.clusters if former_facts else {}
    moved = frozenset(home for home in homes if former.get(home) != facts.clusters.get(home))
    alone = _apps_alone(old, new)
    wanted = {
        subject: clusters
        for subject, clusters in _wanted(old, new, diff, homes).items()
        if subject in moved or subject.tenant not in alone or subject.name in alone[subject.tenant]
    }
    return _Differing(diff, homes, tuple(occurrences(former_facts, facts, wanted)), moved)


def _where_it_places(differing: _Differing, placing: Collection[str]) -> Iterator[Occurrence]:
    """What differs, without selectors that place something else in another environment alone: here they change nothing."""
    for occurrence in differing.occurrences:
        values = occurrence.values
        if occurrence.subject not in differing.moved:
            values = tuple(value for value in values if repr(value) not in placing)
        if values or occurrence.effect is not Effect.CHANGED:
            yield occurrence._replace(values=values)


def _review(old: Fleet | None, new: Fleet, whole: _Differing, placing: Collection[str]) -> Review:
    diff, homes, placing_occurrences = whole.diff, whole.homes, tuple(_where_it_places(whole, placing))
    changed = {change.cluster for change in placing_occurrences} | {owner.cluster for owner in diff.owners}
    rollout = diff.after.rollout
    return Review(
        environment=diff.environment,
        status=diff.status,
        dangers=dangers(diff, placing_occurrences, old, new, homes),
        changes=tuple(joined(placing_occurrences, homes)),
        objects=tuple(_objects(diff, placing_occurrences)),
        clusters=tuple(home for home in homes[CLUSTER] if home in changed),
        of=tuple(homes[CLUSTER]),
        waves=tuple(_reach(diff, rollout)) if rollout else (),
        of_waves=len(rollout.waves) if rollout else 0,
        after=diff.after.after if diff.added or diff.changed else None,
    )


def _homes(before: Facts | None, after: Facts | None) -> Mapping[Subject, Collection[str]]:
    """The clusters of each subject, before or after, in the order of the plans."""
    homes: dict[Subject, dict[str, None]] = {}
    for side in (after, before):
        for subject, clusters in side.clusters.items() if side else ():
            homes.setdefault(subject, {}).update(dict.fromkeys(clusters))
    return homes


# --- what can differ --------------------------------------------------------------------------------------------------


def _wanted(
    old: Fleet | None, new: Fleet, diff: Difference, homes: Mapping[Subject, Collection[str]]
) -> dict[Subject, Collection[str]]:
    """The clusters on which facts of each subject can differ: where objects of its owner do, or everywhere if its entry does.

    A fleet has too many facts to compare all. What changes no object, such as a grant, changes the entry of its owner.
    """
    owners = diff.owners | _reordered(diff.before, diff.after)
    tenants = _edited(old, new, "tenants")
    platform = bool(_edited(old, new, "platform")) or Owner() in owners
    wanted: dict[Subject, Collection[str]] = {}
    for subject, clusters in homes.items():
        match subject.kind:
            case Kind.ENVIRONMENT | Kind.CLUSTER:
                whole = True
            case Kind.TENANT | Kind.APP:
                whole = subject.tenant in tenants or Owner(subject.tenant) in owners
            case _:
                whole = platform
        wanted[subject] = [cluster for cluster in clusters if whole or Owner(subject.tenant, cluster) in owners]
    return wanted


def _apps_alone(old: Fleet | None, new: Fleet) -> Mapping[str, Collection[str]]:
    """The tenants of which nothing is written differently but some apps, each with these, if all that they share is as it was.

    No fact of their other apps can differ, although objects of the same owner do.
    """
    if old is None or any(_edited(old, new, key) for key in ("clusters", "environments", "platform")):
        return {}
    tenants = (tenant for tenant in _edited(old, new, "tenants") if _edited(old, new, "tenants", tenant) == {"apps"})
    return {tenant: _edited(old, new, "tenants", tenant, "apps") for tenant in tenants}


def _edited(old: Fleet | None, new: Fleet, *at: str) -> set[str]:
    """The entries of a mapping of the file that are written differently. Args: at: its path."""
    old_entries, new_entries = old.raw(*at) if old else {}, new.raw(*at)
    return {
        name
        for name in old_entries.keys() | new_entries.keys()
        if repr(old_entries.get(name)) != repr(new_entries.get(name))
    }


def _reordered(before: Plan, after: Plan) -> set[Owner]:
    """Whose dependencies differ. Flux orders objects of one kind only, so that may change no object."""
    old = {planned.id: planned.depends_on for planned in before.objects}
    return {planned.owner for planned in after.objects if old.get(planned.id, planned.depends_on) != planned.depends_on}


# --- beside the facts -----------------------------------------------------------------------------------------------


def _reach(diff: Difference, rollout: Rollout) -> Iterator[Reach]:
    """The waves that a change goes through. What is removed has its place in the plan that held it."""
    waves, reached = rollout.by_cluster(), dict[int, set[str]]()
    sides = ((diff.after, (*diff.added, *(changed.after for changed in diff.changed))), (diff.before, diff.removed))
    for plan, planned in ((plan, planned) for plan, objects in sides for planned in objects):
        if plan.wave_of(planned.id) and (wave := waves.get(planned.owner.cluster)):
            reached.setdefault(wave.number, set()).add(planned.owner.cluster)
    for wave in rollout.waves:
        if wave.number in reached:
            yield Reach(number=wave.number, name=wave.name, clusters=tuple(sorted(reached[wave.number])))


def _objects(diff: Difference, changes: Iterable[Occurrence]) -> Iterator[ObjectChange]:
    spots = {(change.subject.tenant, change.cluster) for change in changes}
    owners = spots | {(tenant, "") for tenant, _ in spots}
    clusters, wholes = ({cluster for tenant, cluster in spots if of_all or not tenant} for of_all in (True, False))
    everything = diff.elsewhere or diff.status is not Status.KEPT or "" in wholes

    def explained(owner: Owner) -> bool:
        """What a cluster changes concerns its tenants, and what a tenant changes there what the platform has for it."""
        above = wholes if owner.tenant else clusters
        return everything or owner in owners or (owner.cluster in above if owner.cluster else bool(above))

    for effect, objects in ((Effect.REMOVED, diff.removed), (Effect.ADDED, diff.added)):
        for object in objects:
            yield ObjectChange(effect=effect, object=object.id, explained=explained(object.owner))
    for changed in diff.changed:
        of_owner = explained(changed.after.owner)
        yield ObjectChange(effect=Effect.CHANGED, object=changed.id, explained=of_owner, fields=changed.fields)


# --- what several environments have ----------------------------------------------------------------------------------


_T = TypeVar("_T", Change, Danger)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Changes that are the same in all of these environments."""

    reviews: tuple[Review, ...]
    changes: tuple[Change, ...]

    @property
    def environments(self) -> tuple[str, ...]:
        return tuple(review.environment for review in self.reviews)

    @property
    def total(self) -> int:
        """How many clusters the environments have, each counted once."""
        return len({cluster for review in self.reviews for cluster in review.of})

    @property
    def heading(self) -> str:
        """Such as `dev, prod: 2 tenants, 3 apps on 5 of 12 clusters`."""
        subjects = {subject for change in self.changes for subject in change.where.subjects}
        numbers = [(len({subject.tenant for subject in subjects if subject.tenant}), "tenant")]
        numbers += [(sum(subject.kind is kind for subject in subjects), kind) for kind in (Kind.APP, Kind.ADDON)]
        whom = ", ".join(counted(number, noun) for number, noun in numbers if number)
        clusters = {cluster for change in self.changes for cluster in change.where.clusters}
        parts = [part for part in (whom, share(len(clusters), self.total) if clusters else "") if part]
        return f"{', '.join(self.environments)}: {' on '.join(parts) or 'the environment itself'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDanger:
    """A danger that is the same in all of these environments. total: how many clusters they have."""

    environments: tuple[str, ...]
    danger: Danger
    total: int

    def text(self) -> str:
        """Such as `rights: tenant rocky on edge-1: its apps get admin instead of edit`."""
        return f"{self.danger.kind}: {self.danger.where.text(self.total)}: {self.danger.text}"


def sections(reviews: Iterable[Review]) -> list[Section]:
    """All changes, by the environments that have them. What concerns subjects wherever they are can be in several."""
    by_environments: dict[tuple[str, ...], list[Change]] = {}
    by_name = {review.environment: review for review in reviews}
    for names, change in _shared(by_name.values(), lambda review: review.changes):
        by_environments.setdefault(names, []).append(change)
    return [
        Section(reviews=tuple(by_name[name] for name in names), changes=tuple(changes))
        for names, changes in sorted(by_environments.items(), key=lambda group: -len(group[0]))
    ]


def shared_dangers(reviews: Iterable[Review]) -> list[SharedDanger]:
    """All dangers, the worst first."""
    by_name = {review.environment: review for review in reviews}
    dangers_by_environments = _shared(by_name.values(), lambda review: review.dangers)
    return [
        SharedDanger(
            environments=names,
            danger=danger,
            total=len({cluster for name in names for cluster in by_name[name].of}),
        )
        for names, danger in sorted(dangers_by_environments, key=lambda pair: by_kind(pair[1]))
    ]


def _shared(reviews: Iterable[Review], parts: Callable[[Review], Sequence[_T]]) -> Iterator[tuple[tuple[str, ...], _T]]:
    pairs = ((review.environment, part) for review in reviews for part in parts(review))
    for own in grouped(pairs, lambda pair: _key(*pair)).values():
        names = tuple(dict.fromkeys(name for name, _ in own))
        first = own[0][1]
        clusters: dict[Subject, dict[str, None]] = {}
        for _, part in own:
            for subject, placement in part.where.by_subject():
                clusters.setdefault(subject, {}).update(dict.fromkeys(placement))
        yield names, replace(first, where=placed(clusters, everywhere=first.where.everywhere))


def _key(environment: str, part: Change | Danger) -> object:
    """What is equal in parts that are shown once: the same on named clusters of two environments is not the same."""
    where = part.where
    if where.everywhere or not where.clusters:
        return repr(replace(part, where=replace(where, clusters=(), placements=())))  # a value can be a list
    return environment, id(part)
