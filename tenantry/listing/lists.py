"""The lists of what a fleet declares: tenants, apps, clusters and placements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import (
    addon_environment,
    app_barrier,
    clusters_taken,
    is_management,
)
from tenantry.fleet.settings import main_namespace
from tenantry.kube.names import PLATFORM
from tenantry.listing.taken import Place, Taken, Taking, in_words
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared, grouped

Item: TypeAlias = dict[str, Any]


class Placed(NamedTuple):
    """An app of a tenant, or with the tenant `platform` an add-on, on a cluster of an environment."""

    environment: str
    tenant: str
    app: str
    cluster: str

    @property
    def at(self) -> tuple[str, ...]:
        """The path of the app or add-on in the document."""
        of_platform = self.tenant == PLATFORM
        return ("platform", "addons", self.app) if of_platform else ("tenants", self.tenant, "apps", self.app)

    @property
    def place(self) -> Place:
        return Place(self.environment, self.cluster)


@dataclass(frozen=True, slots=True)
class Filter:
    """Names to keep; an empty collection keeps all."""

    environments: Collection[str] = ()
    tenants: Collection[str] = ()
    clusters: Collection[str] = ()

    @property
    def by_place(self) -> bool:
        """Whether it keeps what is placed somewhere, and nothing else."""
        return bool(self.environments or self.clusters)

    def takes(self, placed: Placed) -> bool:
        return (
            (not self.environments or placed.environment in self.environments)
            and (not self.tenants or placed.tenant in self.tenants)
            and (not self.clusters or placed.cluster in self.clusters)
        )


def listing(fleet: Fleet, what: str, only: Filter) -> list[Item]:
    """The items of a list, in the order of the file. Raises: Refused: a name of the filter is not declared."""
    _check(fleet, only)
    found = [each for each in _all_placed(fleet) if only.takes(each)]
    return list(_LISTS[what](fleet, found, only))


def _check(fleet: Fleet, only: Filter) -> None:
    for environment in only.environments:
        fleet.check_stack(environment)
    tenants = [*fleet.document.tenants, PLATFORM]
    for what, names, known in (
        ("environment", only.environments, fleet.environments),
        ("tenant", only.tenants, tenants),
        ("cluster", only.clusters, fleet.clusters),
    ):
        for name in names:
            if name not in known:
                message = f"{fleet.source.file} declares no {what} '{name}'"
                raise Refused(message, declared("name one of these", name, known), code=UNKNOWN_NAME)


def _all_placed(fleet: Fleet) -> Iterator[Placed]:
    for addon in fleet.document.platform.addons:
        for cluster in clusters_taken(fleet, ("platform", "addons", addon)):
            if environment := addon_environment(fleet, addon, cluster):
                yield Placed(environment, PLATFORM, addon, cluster)
    for tenant, each in fleet.document.tenants.items():
        for app in each.apps:
            admitted = {name for name in fleet.environments if not app_barrier(fleet, name, tenant, app)}
            for cluster in clusters_taken(fleet, ("tenants", tenant, "apps", app)):
                there = (name for name in fleet.clusters[cluster].environments if name in admitted)
                yield from (Placed(name, tenant, app, cluster) for name in there)


def _kept(names: Iterable[str], placed: Iterable[str], *, filtered: bool) -> list[str]:
    """All names; if the list is filtered, those that the remaining placements have."""
    there = set(placed)
    return [name for name in names if name in there or not filtered]


def _clusters(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    names = [name for name, each in fleet.clusters.items() if _in(each.environments, only.environments)]
    names = [name for name in names if not only.clusters or name in only.clusters]
    by_cluster = grouped(placed, lambda one: one.cluster)
    for name in _kept(names, by_cluster, filtered=bool(only.tenants)):
        here, each = by_cluster.get(name, []), fleet.clusters[name]
        yield {
            "name": name,
            "environments": list(each.environments),
            "management": is_management(fleet, name),
            "hubs": _unique(fleet.environments[environment].management for environment in each.environments),
            "kubeconfig": next(iter(each.kubeconfig.model_dump(exclude_none=True)), None) if each.kubeconfig else None,
            "templates": list(each.from_ or ()),
            "labels": dict(each.labels),
            "tenants": _unique(one.tenant for one in here if one.tenant != PLATFORM),
            "apps": len(here),
            "state": each.state,
        }


def _tenants(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    names = [name for name in fleet.document.tenants if not only.tenants or name in only.tenants]
    by_tenant = grouped(placed, lambda one: one.tenant)
    for name in _kept(names, by_tenant, filtered=only.by_place):
        here, each = by_tenant.get(name, []), fleet.document.tenants[name]
        yield {
            "name": name,
            "environments": _unique(one.environment for one in here),
            "clusters": _unique(one.cluster for one in here),
            "templates": list(each.from_ or ()),
            "apps": list(each.apps),
            "file": fleet.source.fills[name].file.file if name in fleet.source.fills else None,
            "state": each.state,
        }


def _apps(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    by_app = grouped(placed, _app_of)
    every = grouped(_all_placed(fleet), _app_of) if only.by_place else by_app
    taking, order = Taking(fleet), _positions(fleet.in_order())
    platform = [(PLATFORM, name, each) for name, each in fleet.document.platform.addons.items()]
    tenants = ((name, app, each) for name, of in fleet.document.tenants.items() for app, each in of.apps.items())
    for tenant, name, app in chain(platform, tenants):
        here = by_app.get((tenant, name), [])
        if not _in([tenant], only.tenants) or (only.by_place and not here):
            continue
        by_taken: dict[Taken, list[Place]] = {}
        for one in here:
            by_taken.setdefault(taking.app(one.at, one.place), []).append(one.place)
        versions = sorted(by_taken.items(), key=lambda each: (order[each[1][0].environment], -len(each[1])))
        places = [one.place for one in every.get((tenant, name), ())]
        yield {
            "tenant": tenant,
            "name": name,
            "kind": app.kind,
            "versions": [
                {**taken._asdict(), "ref": dict(taken.ref) or None, **_where(there, places)}
                for taken, there in versions
            ],
            "environments": _unique(one.environment for one in here),
            "clusters": _unique(one.cluster for one in here),
            "state": app.state,
        }


def _app_of(one: Placed) -> tuple[str, str]:
    return one.tenant, one.app


def _where(places: Sequence[Place], every: Sequence[Place]) -> Item:
    """Some of the places of an app, in words and one by one."""
    return {"where": in_words(places, every), "placements": [place._asdict() for place in places]}


def _placements(fleet: Fleet, placed: list[Placed], _: Filter) -> Iterator[Item]:
    taking = Taking(fleet)
    by_place: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in placed:
        if one.tenant != PLATFORM:
            version = taking.app(one.at, one.place).short
            by_place.setdefault((one.environment, one.tenant, one.cluster), {})[one.app] = version
    environments, tenants, clusters = map(_positions, (fleet.in_order(), fleet.document.tenants, fleet.clusters))
    for environment, tenant, cluster in sorted(
        by_place, key=lambda each: (environments[each[0]], tenants[each[1]], clusters[each[2]])
    ):
        yield {
            "environment": environment,
            "tenant": tenant,
            "cluster": cluster,
            "hub": fleet.environments[environment].management,
            "namespace": main_namespace(fleet, environment, tenant),
            "apps": list(by_place[environment, tenant, cluster]),
            "planned": by_place[environment, tenant, cluster],
        }


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _in(names: Iterable[str], wanted: Collection[str]) -> bool:
    return not wanted or not set(names).isdisjoint(wanted)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


_LISTS: dict[str, Callable[[Fleet, list[Placed], Filter], Iterator[Item]]] = {
    "tenants": _tenants,
    "apps": _apps,
    "clusters": _clusters,
    "placements": _placements,
}
LISTS = tuple(_LISTS)
"""What can be listed."""
