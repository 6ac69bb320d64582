"""What a fleet declares, as lists: environments, clusters, tenants, apps, placements and sources. It plans no objects.

An item is plain data, as it is in the JSON of `tenantry list`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.namespaces import main_namespace
from tenantry.fleet.placement import (
    addon_environments,
    app_barrier,
    cluster_labels,
    clusters_taken,
    is_management,
    labelled,
)
from tenantry.kube.names import PLATFORM
from tenantry.messages.errors import UNKNOWN_NAME, Path, Refused
from tenantry.messages.text import declared
from tenantry.model import Source

Item: TypeAlias = dict[str, Any]


class Placed(NamedTuple):
    """An app of a tenant, or with the tenant `platform` an add-on, on a cluster of an environment."""

    environment: str
    tenant: str
    app: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Names to keep; an empty collection keeps all. clusters: also by labels, `tier=edge`."""

    environments: Collection[str] = ()
    tenants: Collection[str] = ()
    clusters: Collection[str] = ()

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
    for name in _kept(names, (each.environment for each in placed), filtered=bool(only.tenants or only.clusters)):
        here, each = [one for one in placed if one.environment == name], fleet.environments[name]
        yield {
            "name": name,
            "management": each.management,
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
    by_cluster = _grouped(placed, 3)
    for name in _kept(names, by_cluster, filtered=bool(only.tenants)):
        here, each = by_cluster.get(name, []), fleet.clusters[name]
        yield {
            "name": name,
            "environments": list(each.environments),
            "management": is_management(fleet, name),
            "kubeconfig": next(iter(each.kubeconfig.model_dump(exclude_none=True)), None) if each.kubeconfig else None,
            "group": each.group,
            "labels": dict(each.labels),
            "tenants": _unique(one.tenant for one in here if one.tenant != PLATFORM),
            "apps": len(here),
            "state": each.state,
        }


def _tenants(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    names = [name for name in fleet.document.tenants if not only.tenants or name in only.tenants]
    by_tenant = _grouped(placed, 1)
    for name in _kept(names, by_tenant, filtered=bool(only.environments or only.clusters)):
        here, each = by_tenant.get(name, []), fleet.document.tenants[name]
        yield {
            "name": name,
            "environments": _unique(one.environment for one in here),
            "clusters": _unique(one.cluster for one in here),
            "apps": list(each.apps),
            "file": fleet.source.fills[name].file.file if name in fleet.source.fills else None,
            "state": each.state,
        }


def _apps(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    by_app: dict[tuple[str, str], list[Placed]] = {}
    for one in placed:
        by_app.setdefault((one.tenant, one.app), []).append(one)
    platform = [(PLATFORM, name, each) for name, each in fleet.document.platform.addons.items()]
    tenants = ((name, app, each) for name, of in fleet.document.tenants.items() for app, each in of.apps.items())
    for tenant, name, app in chain(platform, tenants):
        here = by_app.get((tenant, name), [])
        wanted = (not only.tenants or tenant in only.tenants) and (here or not (only.environments or only.clusters))
        if not wanted:
            continue
        at: Path = ("platform", "addons", name) if tenant == PLATFORM else ("tenants", tenant, "apps", name)
        block = fleet.raw(*at, app.kind)
        yield {
            "tenant": tenant,
            "name": name,
            "kind": app.kind,
            "source": name if tenant == PLATFORM else block.get("source"),
            "chart": block.get("chart"),
            "version": block.get("version"),
            "path": block.get("path"),
            "environments": _unique(one.environment for one in here),
            "clusters": _unique(one.cluster for one in here),
            "state": app.state,
        }


def _placements(fleet: Fleet, placed: list[Placed], _: Filter) -> Iterator[Item]:
    by_place: dict[tuple[str, str, str], list[str]] = {}
    for one in placed:
        if one.tenant != PLATFORM:
            by_place.setdefault((one.environment, one.tenant, one.cluster), []).append(one.app)
    environments, tenants, clusters = map(_positions, (fleet.in_order(), fleet.document.tenants, fleet.clusters))
    for environment, tenant, cluster in sorted(
        by_place, key=lambda each: (environments[each[0]], tenants[each[1]], clusters[each[2]])
    ):
        yield {
            "environment": environment,
            "tenant": tenant,
            "cluster": cluster,
            "namespace": main_namespace(fleet, environment, tenant),
            "apps": by_place[environment, tenant, cluster],
        }


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _sources(fleet: Fleet, placed: list[Placed], only: Filter) -> Iterator[Item]:
    there = {(one.tenant, one.app) for one in placed}
    filtered = bool(only.environments or only.clusters)
    for name, each in fleet.document.platform.addons.items():
        if _in([PLATFORM], only.tenants) and ((PLATFORM, name) in there or not filtered):
            yield _source(fleet, PLATFORM, name, each.source, [name], ("platform", "addons", name, "source"))
    for tenant, of in fleet.document.tenants.items():
        for name, source in of.sources.items():
            at = ("tenants", tenant, "sources", name)
            uses = [
                app
                for app, each in of.apps.items()
                if fleet.raw("tenants", tenant, "apps", app, each.kind).get("source") == name
            ]
            used_there = not filtered or any((tenant, app) in there for app in uses)
            if _in([tenant], only.tenants) and used_there:
                yield _source(fleet, tenant, name, source, uses, at)


def _source(fleet: Fleet, tenant: str, name: str, source: Source, apps: list[str], at: tuple[str, ...]) -> Item:
    block = fleet.raw(*at, source.kind)
    ref = block.get("ref")
    return {
        "tenant": tenant,
        "name": name,
        "kind": source.kind,
        "url": block.get("url") or block.get("endpoint"),
        "ref": ref if isinstance(ref, dict) else None,
        "credentials": source.credentials,
        "apps": apps,
    }


def _in(names: Iterable[str], wanted: Collection[str]) -> bool:
    return not wanted or not set(names).isdisjoint(wanted)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _grouped(placed: Iterable[Placed], field: int) -> dict[str, list[Placed]]:
    groups: dict[str, list[Placed]] = {}
    for each in placed:
        groups.setdefault(each[field], []).append(each)
    return groups


_LISTS: dict[str, Callable[[Fleet, list[Placed], Filter], Iterator[Item]]] = {
    "tenants": _tenants,
    "apps": _apps,
    "clusters": _clusters,
    "placements": _placements,
    "sources": _sources,
    "environments": _environments,
}
LISTS = tuple(_LISTS)
"""What can be listed."""
