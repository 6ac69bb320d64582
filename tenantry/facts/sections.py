"""Changes and dangers that are the same in several environments, once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tenantry.facts.changes import Change
from tenantry.facts.dangers import Danger
from tenantry.facts.review import Review
from tenantry.facts.subjects import Kind, Subject, placed, share
from tenantry.messages.text import counted, grouped

_T = TypeVar("_T", Change, Danger)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Changes that are the same in all of these environments."""

    reviews: tuple[Review, ...]
    changes: tuple[Change, ...]

    @property
    def environments(self) -> tuple[str, ...]:
        return tuple(each.environment for each in self.reviews)

    @property
    def total(self) -> int:
        """How many clusters the environments have, each counted once."""
        return len({cluster for each in self.reviews for cluster in each.of})

    @property
    def heading(self) -> str:
        """Such as `dev, prod: 2 tenants, 3 apps on 5 of 12 clusters`."""
        subjects = {subject for each in self.changes for subject in each.where.subjects}
        numbers = [(len({each.tenant for each in subjects if each.tenant}), "tenant")]
        numbers += [(sum(each.kind is kind for each in subjects), kind) for kind in (Kind.APP, Kind.ADDON)]
        whom = ", ".join(counted(number, noun) for number, noun in numbers if number)
        clusters = {cluster for each in self.changes for cluster in each.where.clusters}
        parts = [part for part in (whom, share(len(clusters), self.total) if clusters else "") if part]
        return f"{', '.join(self.environments)}: {' on '.join(parts) or 'the environment itself'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDanger:
    """A danger that is the same in all of these environments. total: how many clusters they have."""

    environments: tuple[str, ...]
    danger: Danger
    total: int

    @property
    def text(self) -> str:
        """Such as `rights: tenant rocky on edge-1: its apps get admin instead of edit`."""
        return f"{self.danger.kind}: {self.danger.where.text(self.total)}: {self.danger.text}"


def sections(reviews: Iterable[Review]) -> list[Section]:
    """All changes, by the environments that have them. What concerns subjects wherever they are can be in several."""
    found: dict[tuple[str, ...], list[Change]] = {}
    by_name = {each.environment: each for each in reviews}
    for names, change in _shared(by_name.values(), lambda review: review.changes):
        found.setdefault(names, []).append(change)
    return [
        Section(reviews=tuple(by_name[name] for name in names), changes=tuple(changes))
        for names, changes in sorted(found.items(), key=lambda each: -len(each[0]))
    ]


def shared_dangers(reviews: Iterable[Review]) -> list[SharedDanger]:
    """All dangers, the worst first."""
    by_name = {each.environment: each for each in reviews}
    found = _shared(by_name.values(), lambda review: review.dangers)
    return [
        SharedDanger(
            environments=names,
            danger=danger,
            total=len({cluster for name in names for cluster in by_name[name].of}),
        )
        for names, danger in sorted(found, key=lambda pair: pair[1].rank)
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
