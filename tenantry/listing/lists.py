"""The lists of what a fleet declares: environments, clusters, tenants, apps, placements, sources and rights."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from tenantry.fleet.classes import CLASSES, classes_above
from tenantry.fleet.fleet import Fleet, clusters_of, hub_of
from tenantry.fleet.namespaces import main_namespace
from tenantry.fleet.placement import (
    addon_environments,
    app_barrier,
    cluster_labels,
    clusters_taken,
    is_management,
    labelled,
)
from tenantry.fleet.sources import source_place
from tenantry.fleet.walk import sources
from tenantry.kube.names import PLATFORM
from tenantry.listing.rights import rights, rights_of_platform
from tenantry.listing.taken import Place, Source, Taken, Taking, in_words, uses
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared, grouped
from tenantry.source.parsed_file import named_classes

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
    """Names to keep; an empty collection keeps all.

    clusters: also by labels, `tier=edge`; uses: what apps use, by the keys of `USES`; who: of rights, may have `*`.
    """

    environments: Collection[str] = ()
    tenants: Collection[str] = ()
    clusters: Collection[str] = ()
    uses: Sequence[tuple[str, str]] = ()
    who: Collection[str] = ()

    @property
    def by_place(self) -> bool:
        """Whether it keeps what is placed somewhere, and nothing else."""
        return bool(self.environments or self.clusters or self.uses)

    def takes(self, placed: Placed) -> bool:
        return (
            (not self.environments or placed.environment in self.environments)
            and (not self.tenants or placed.tenant in self.tenants)
            and (not self.clusters or placed.cluster in self.clusters)
        )


def listing(fleet: Fleet, what: str, only: Filter) -> list[Item]:
    """The items of a list, in the order of the file. Raises: Refused: a name of the filter is not declared."""
    only = replace(only, clusters=labelled(only.clusters, cluster_labels(fleet)))
    _check(fleet, only)
    found = [each for each in _all_placed(fleet) if only.takes(each)]
    if only.uses:
        taking = Taking(fleet)
        found = [each for each in found if uses(*taking.app(each.at, each.place), only.uses)]
    return list(_LISTS[what](fleet, found, only))


def _check(fleet: Fleet, only: Filter) -> None:
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
            yield from (
                Placed(environment, PLATFORM, addon, cluster)
                for environment in addon_environments(fleet, addon, cluster)
            )
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


def _environments(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    names = [each for each in fleet.in_order() if not only.environments or each in only.environments]
    for name in _kept(
        names, (each.environment for each in placed), filtered=bool(only.tenants or only.clusters or only.uses)
    ):
        here, each = [one for one in placed if one.environment == name], fleet.environments[name]
        yield {
            "name": name,
            "management": each.managements[0] if len(each.managements) == 1 else list(each.managements),
            "clusters": clusters_of(fleet, name),
            "tenants": _unique(one.tenant for one in here if one.tenant != PLATFORM),
            "apps": len(here),
            "extends": each.extends,
            "after": each.before,
            "protected": each.protected,
        }


def _clusters(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    names = [name for name, each in fleet.clusters.items() if _in(each.environments, only.environments)]
    names = [name for name in names if not only.clusters or name in only.clusters]
    by_cluster = grouped(placed, lambda one: one.cluster)
    for name in _kept(names, by_cluster, filtered=bool(only.tenants or only.uses)):
        here, each = by_cluster.get(name, []), fleet.clusters[name]
        yield {
            "name": name,
            "environments": list(each.environments),
            "management": is_management(fleet, name),
            "hubs": _unique(hub_of(fleet, environment, name) for environment in each.environments),
            "kubeconfig": next(iter(each.kubeconfig.model_dump(exclude_none=True)), None) if each.kubeconfig else None,
            "groups": list(each.group or ()),
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
            "classes": list(each.class_ or ()),
            "apps": list(each.apps),
            "file": fleet.source.fills[name].file.file if name in fleet.source.fills else None,
            "state": each.state,
        }


def _classes(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    """Every class with the tenants that have it, themselves or through another class."""
    having: dict[str, list[str]] = {}
    for item in _tenants(fleet, placed, only):
        for name in {each for own in item["classes"] for each in (own, *classes_above(fleet.source, own))}:
            having.setdefault(name, []).append(item["name"])
    filtered = only.by_place or bool(only.tenants)
    for name in _kept(fleet.raw(CLASSES), having, filtered=filtered):
        yield {
            "name": name,
            "classes": list(named_classes(fleet.raw(CLASSES, name))),
            "tenants": having.get(name, []),
            "apps": list(fleet.raw(CLASSES, name, "apps")),
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
            by_taken.setdefault(taking.app(one.at, one.place)[0], []).append(one.place)
        versions = sorted(by_taken.items(), key=lambda each: (order[each[1][0].environment], -len(each[1])))
        places = [one.place for one in every.get((tenant, name), ())]
        yield {
            "tenant": tenant,
            "name": name,
            "kind": app.kind,
            "versions": [{**_data(taken), **_where(there, places)} for taken, there in versions],
            "environments": _unique(one.environment for one in here),
            "clusters": _unique(one.cluster for one in here),
            "state": app.state,
        }


def _app_of(one: Placed) -> tuple[str, str]:
    return one.tenant, one.app


def _data(found: Taken | Source) -> Item:
    return {**found._asdict(), "ref": dict(found.ref) or None}


def _where(places: Sequence[Place], every: Sequence[Place]) -> Item:
    """Some of the places of an app or a source, in words and one by one."""
    return {"where": in_words(places, every), "placements": [place._asdict() for place in places]}


def _placements(fleet: Fleet, placed: list[Placed], _: Filter) -> Iterator[Item]:
    taking = Taking(fleet)
    by_place: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in placed:
        if one.tenant != PLATFORM:
            version = taking.app(one.at, one.place)[0].short
            by_place.setdefault((one.environment, one.tenant, one.cluster), {})[one.app] = version
    environments, tenants, clusters = map(_positions, (fleet.in_order(), fleet.document.tenants, fleet.clusters))
    for environment, tenant, cluster in sorted(
        by_place, key=lambda each: (environments[each[0]], tenants[each[1]], clusters[each[2]])
    ):
        yield {
            "environment": environment,
            "tenant": tenant,
            "cluster": cluster,
            "hub": hub_of(fleet, environment, cluster),
            "namespace": main_namespace(fleet, environment, tenant),
            "apps": list(by_place[environment, tenant, cluster]),
            "planned": by_place[environment, tenant, cluster],
        }


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _place_of_source(one: Placed, taking: Taking) -> tuple[str, ...]:
    """Where the source is declared that something takes. An add-on's own has the name of the add-on."""
    name = taking.app(one.at, one.place)[0].source
    return source_place(one.at, name if one.tenant != PLATFORM or name != one.app else None)


def _sources(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    taking = Taking(fleet)
    users = grouped(placed, lambda one: _place_of_source(one, taking))
    for at, source in sorted(sources(fleet), key=lambda each: each[0][0] != PLATFORM):
        here = users.get(at, [])
        tenant, name = (PLATFORM, at[2]) if at[0] == PLATFORM else (at[1], at[3])
        if not _in([tenant], only.tenants) or (only.by_place and not here):
            continue
        places = list(dict.fromkeys(one.place for one in here))
        by_source = grouped(places, partial(taking.source, at))
        if not places:
            by_source[taking.source(at, None)] = []
        yield {
            "tenant": tenant,
            "name": name,
            "kind": source.kind,
            "versions": [{**_data(found), **_where(there, places)} for found, there in by_source.items()],
            "credentials": source.credentials,
            "apps": _unique(one.app for one in here),
        }


def _rights(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    by_tenant = _places_of(one for one in placed if one.tenant != PLATFORM)
    every = _places_of(_all_placed(fleet))
    clusters = [Place(name, cluster) for name in fleet.in_order() for cluster in clusters_of(fleet, name)]
    here = [
        place
        for place in clusters
        if _in([PLATFORM], only.tenants)
        and _in([place.environment], only.environments)
        and _in([place.cluster], only.clusters)
    ]
    for right, places in rights_of_platform(fleet, here if not only.uses else ()).items():
        if not only.who or any(fnmatchcase(right.name, each) for each in only.who):
            yield {**right.data(), **_where(places, clusters)}
    for tenant in fleet.document.tenants:
        for right, places in rights(fleet, tenant, by_tenant.get(tenant, ())).items():
            if not only.who or any(fnmatchcase(right.name, each) for each in only.who):
                yield {**right.data(), **_where(places, every[tenant])}


def _places_of(placed: Iterable[Placed]) -> dict[str, list[Place]]:
    """The places of each tenant, each once."""
    by_tenant = grouped(placed, lambda one: one.tenant)
    return {tenant: list(dict.fromkeys(one.place for one in here)) for tenant, here in by_tenant.items()}


def _in(names: Iterable[str], wanted: Collection[str]) -> bool:
    return not wanted or not set(names).isdisjoint(wanted)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


_LISTS: dict[str, Callable[[Fleet, list[Placed], Filter], Iterator[Item]]] = {
    "tenants": _tenants,
    "classes": _classes,
    "apps": _apps,
    "clusters": _clusters,
    "placements": _placements,
    "sources": _sources,
    "environments": _environments,
    "rights": _rights,
}
LISTS = tuple(_LISTS)
"""What can be listed."""
