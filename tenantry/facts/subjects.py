"""Whom a fact is about, and equal facts of several subjects on several clusters as one."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from tenantry.kube.names import PLATFORM, app_name
from tenantry.messages.text import counted, grouped, listed
from tenantry.plan.planned_apps import PlannedApp

_K = TypeVar("_K", bound=Hashable)
_NAMED_SUBJECTS, _NAMED_CLUSTERS = 3, 5
"""The most names in a heading. Others are counted, unless all are wanted."""


class Kind(StrEnum):
    """What a fact is about."""

    ENVIRONMENT = "environment"
    PLATFORM = "platform"
    CLUSTER = "cluster"
    ADDON = "add-on"
    TENANT = "tenant"
    APP = "app"


class Subject(NamedTuple):
    """tenant: of a tenant or an app; name: of an app or an add-on. The cluster of a fact says which cluster a subject is."""

    kind: Kind
    tenant: str = ""
    name: str = ""

    @property
    def owner(self) -> str:
        """The tenant, or "platform"."""
        return self.tenant or PLATFORM

    def __str__(self) -> str:
        """Such as `rocky/web`, `platform/dns`, `tenant rocky`, `platform`."""
        if self.name:
            return app_name(self.tenant, self.name)
        return f"{self.kind} {self.tenant}" if self.tenant else str(self.kind)


ENVIRONMENT, THE_PLATFORM, CLUSTER = Subject(Kind.ENVIRONMENT), Subject(Kind.PLATFORM), Subject(Kind.CLUSTER)


def subject_of(app: PlannedApp) -> Subject:
    """The subject of a tenant's app or an add-on."""
    return Subject(Kind.APP if app.tenant else Kind.ADDON, app.tenant, app.name)


@dataclass(frozen=True, slots=True)
class Where:
    """Subjects and clusters: every subject on every cluster or, if they differ, each subject on all clusters that it is on.

    clusters: empty for what belongs to no cluster. everywhere: whether each subject is on no other cluster.
    placements: the clusters of each subject, in the order of the subjects; empty if all subjects are on all clusters.
    """

    subjects: tuple[Subject, ...]
    clusters: tuple[str, ...]
    everywhere: bool
    placements: tuple[tuple[str, ...], ...] = ()

    def by_subject(self) -> Iterator[tuple[Subject, tuple[str, ...]]]:
        """Each subject with its clusters."""
        yield from zip(self.subjects, self.placements or (self.clusters,) * len(self.subjects), strict=True)

    def text(self, total: int) -> str:
        """Such as `rocky/web on all 12 clusters`, `2 tenants (rocky, movy) on each of their clusters (5 of 12)`.

        Args: total: the clusters of the environment.
        """
        if self.subjects[0].kind is Kind.CLUSTER:
            names = listed(self.clusters, _NAMED_CLUSTERS)
            return f"cluster{'' if len(self.clusters) == 1 else 's'} {names}"
        subjects = self._subjects()
        if not self.clusters:
            return subjects
        some = len(self.clusters) < total or total == 1
        named = some and len(self.clusters) <= _NAMED_CLUSTERS
        clusters = ", ".join(self.clusters) if named else share(len(self.clusters), total)
        return f"{subjects} on {f'each of their clusters ({clusters})' if self.placements else clusters}"

    def _subjects(self) -> str:
        names = [subject.tenant if subject.kind is Kind.TENANT else str(subject) for subject in self.subjects]
        kinds = grouped(self.subjects, lambda subject: subject.kind)
        if len(names) == 1 or (len(names) <= _NAMED_SUBJECTS and Kind.TENANT not in kinds):
            return ", ".join(map(str, self.subjects))
        numbers = " and ".join(counted(len(own), kind) for kind, own in kinds.items())
        return f"{numbers} ({listed(names, _NAMED_SUBJECTS)})"


def share(number: int, total: int) -> str:
    """Such as `1 cluster`, `both clusters`, `all 12 clusters`, `479 of 501 clusters`."""
    if number < total:
        return f"{number} of {counted(total, 'cluster')}"
    return {1: "1 cluster", 2: "both clusters"}.get(total, f"all {total} clusters")


Homes = Mapping[Subject, Collection[str]]
"""The clusters that each subject is on."""


def together(every: Iterable[tuple[_K, Subject, str]], homes: Homes) -> Iterator[tuple[_K, Where]]:
    """Equal keys of several subjects on several clusters once, in the order of the first of each.

    A group is either a full product of subjects and clusters, or holds subjects that have the key on all of their clusters. So what
    it says is true of every subject.
    """
    by_key = grouped(every, lambda occurrence: occurrence[0])
    for key, occurrences in by_key.items():
        clusters = {
            subject: tuple(dict.fromkeys(cluster for *_, cluster in own if cluster))
            for subject, own in grouped(occurrences, lambda occurrence: occurrence[1]).items()
        }
        yield from ((key, where) for where in _wheres(clusters, homes))


def _wheres(clusters: Mapping[Subject, tuple[str, ...]], homes: Homes) -> Iterator[Where]:
    everywhere = {name for name, own in clusters.items() if own and set(own) == set(homes.get(name, ()))}
    groups = list(grouped(clusters, lambda name: frozenset(clusters[name])).values())
    whole = [own for own in groups if everywhere.issuperset(own)]
    if len(whole) > 1:
        yield placed({name: clusters[name] for own in whole for name in own}, everywhere=True)
        groups = [own for own in groups if own not in whole]
    for own in groups:
        yield Where(tuple(own), clusters[own[0]], everywhere=everywhere.issuperset(own))


def placed(clusters: Mapping[Subject, Collection[str]], *, everywhere: bool) -> Where:
    """Where subjects are. Args: clusters: of each subject."""
    union = tuple(dict.fromkeys(cluster for own in clusters.values() for cluster in own))
    differ = any(len(own) < len(union) for own in clusters.values())
    placements = tuple(map(tuple, clusters.values())) if differ else ()
    return Where(tuple(clusters), union, everywhere, placements)
