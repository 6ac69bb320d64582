"""The facts of one environment: every value of every subject on each cluster, with its place in the file."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer, Origin, Value, merge, origin_at, trace
from tenantry.fleet.placed import (
    cluster_entry,
    environment_values,
    namespace_of,
    placed_app,
    placed_platform,
    placed_tenant,
    platform_entry,
    platform_namespace,
    platform_times,
    tenant_entry,
)
from tenantry.fleet.settings import variable_at, variables_of
from tenantry.kube.names import PLATFORM, app_name
from tenantry.messages.errors import InvalidPart, Path
from tenantry.messages.placeholders import Variables
from tenantry.messages.text import counted, grouped, listed
from tenantry.plan.plan import Plan
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


Values = Mapping[Path, Value]


class Facts:
    """The facts of an environment. They are made when they are asked for, because a fleet has millions.

    clusters: those of each subject in the order of the plan; "" for the environment, and for a tenant that is on none.
    """

    def __init__(self, fleet: Fleet, plan: Plan) -> None:
        self._fleet, self._plan = fleet, plan
        self._known: dict[tuple[Subject, str], Values] = {}
        self._apps: dict[tuple[Subject, str], PlannedApp] = {(subject_of(app), app.cluster): app for app in plan.apps}
        self.clusters: dict[Subject, list[str]] = {ENVIRONMENT: [""]}
        clusters = clusters_of(fleet, plan.environment)
        self.clusters |= {CLUSTER: clusters, THE_PLATFORM: clusters}
        for placement in plan.placements:
            self.clusters.setdefault(Subject(Kind.TENANT, placement.tenant), []).append(placement.cluster)
        for subject, cluster in self._apps:
            self.clusters.setdefault(subject, []).append(cluster)
        for tenant in fleet.document.tenants:
            self.clusters.setdefault(Subject(Kind.TENANT, tenant), [""])

    def of(self, subject: Subject, cluster: str) -> Values:
        """The values of a subject on a cluster that it is on."""
        key = (subject, cluster)
        if key not in self._known:
            self._known[key] = {value.path: value for value in self._values(subject, cluster)}
        return self._known[key]

    def _values(self, subject: Subject, cluster: str) -> tuple[Value, ...]:
        fleet, environment = self._fleet, self._plan.environment
        match subject.kind:
            case Kind.ENVIRONMENT:
                return environment_values(fleet, environment)
            case Kind.CLUSTER:
                return (*cluster_entry(fleet, cluster), *self._of_platform(cluster))
            case Kind.PLATFORM:
                # The chart of baselines is a fact of the clusters on which it installs some.
                entry = (value for value in platform_entry(fleet, environment, cluster) if value.path[0] != "chart")
                return (platform_namespace(fleet), *platform_times(fleet), *entry)
            case Kind.TENANT:
                return (
                    namespace_of(fleet, environment, subject.tenant),
                    *placed_tenant(fleet, environment, subject.tenant, cluster or None),
                    *tenant_entry(fleet, environment, subject.tenant, cluster or None),
                    *grant_values(fleet, subject.tenant),
                )
        return placed_app(fleet, environment, self._apps[subject, cluster].at, cluster)

    def _of_platform(self, cluster: str) -> tuple[Value, ...]:
        """What the platform has on a cluster, with the chart of baselines wherever it could install some."""
        environment, remote = self._plan.environment, cluster != self._plan.management
        try:
            return placed_platform(self._fleet, environment, cluster, installs=remote)
        except InvalidPart:  # nothing needs the chart, so nothing has checked whether it fits
            return placed_platform(self._fleet, environment, cluster, installs=False)

    def variables(self, subject: Subject, cluster: str) -> Variables:
        """What the placeholders of a subject's values become on a cluster; nothing for what is on none."""
        if not cluster:
            return {}
        names = {"tenant": subject.tenant} if subject.tenant else {}
        names |= {"app": subject.name} if subject.name else {}
        return variables_of(self._fleet, self._plan.environment, cluster, **names)

    def variable(self, subject: Subject, cluster: str, name: str) -> Origin | None:
        """Where the value of a placeholder stands; None for a built-in one."""
        at = variable_at(self._fleet, self._plan.environment, cluster, name, subject.tenant)
        return origin_at(self._fleet.source, at) if at else None


def grant_values(fleet: Fleet, tenant: str) -> tuple[Value, ...]:
    """What the main file grants to the tenant's included file, or would."""
    layers = [Layer(("tenants", tenant, "grants"), fleet.raw("tenants", tenant, "grants"))]
    return tuple(value.under("grants") for value in trace(fleet.source, layers, merge(layers)))
