"""What a fleet declares, as lists: tenants, apps with their planned versions, clusters and placements. They plan no objects.

An item is plain data, as it is in the JSON of `tenantry list`. The levels of a version are those that the plan merges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers, kind_of, source_data, source_place, variables_of_source
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge
from tenantry.fleet.placement import is_management, placements_of
from tenantry.fleet.settings import main_namespace, variables_of_app
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import InvalidPart
from tenantry.messages.placeholders import Variables, fill
from tenantry.messages.text import grouped, require

Item: TypeAlias = dict[str, Any]
_EXACT = ("digest", "commit", "name", "semver", "tag", "branch")
"""The keys of a ref. Flux takes the first of those that are there."""
_SHOWN = 3
"""The most clusters that are named. More are counted."""


class Place(NamedTuple):
    """A cluster of an environment."""

    environment: str
    cluster: str


class Placed(NamedTuple):
    """An app of a tenant, or with the owner `platform` an add-on, on a cluster of an environment. at: its path in the document."""

    owner: str
    at: tuple[str, ...]
    place: Place


def listing(fleet: Fleet, what: str, environment: str | None = None) -> list[Item]:
    """The items of a list, in the order of the file; of one environment, only what is placed there.

    Raises: Refused: the environment is not declared, or is a frame.
    """
    if environment is not None:
        fleet.check_stack(environment)
        require("environment", environment, fleet.environments, fleet.source.file)
    # Add-ons come first.
    placed = [
        Placed(at[1] if at[0] == "tenants" else PLATFORM, at, Place(*place))
        for at, _ in sorted(walk.apps(fleet), key=lambda declared: declared[0][0])
        for place in placements_of(fleet, at)
        if environment in (None, place[0])
    ]
    return [
        item for item in _LISTS[what](fleet, placed) if environment in (None, *item.get("environments", [environment]))
    ]


def _clusters(fleet: Fleet, placed: list[Placed]) -> Iterator[Item]:
    by_cluster = grouped(placed, lambda app: app.place.cluster)
    for name, cluster in fleet.clusters.items():
        apps = by_cluster.get(name, [])
        kubeconfig = cluster.kubeconfig.model_dump(exclude_none=True) if cluster.kubeconfig else {}
        yield {
            "name": name,
            "environments": list(cluster.environments),
            "reachedBy": next(iter(kubeconfig), "management" if is_management(fleet, name) else None),
            "tenants": _unique(app.owner for app in apps if app.owner != PLATFORM),
            "apps": len(apps),
            "state": cluster.state,
            "labels": dict(cluster.labels),
        }


def _tenants(fleet: Fleet, placed: list[Placed]) -> Iterator[Item]:
    by_tenant = grouped(placed, lambda app: app.owner)
    for name, tenant in fleet.document.tenants.items():
        places = [app.place for app in by_tenant.get(name, [])]
        yield {
            "name": name,
            "templates": list(tenant.from_ or ()),
            "environments": _unique(place.environment for place in places),
            "clusters": _unique(place.cluster for place in places),
            "apps": list(tenant.apps),
            "state": tenant.state,
            "file": fleet.source.fills[name].file.file if name in fleet.source.fills else None,
        }


def _apps(fleet: Fleet, placed: list[Placed]) -> Iterator[Item]:
    """An item for each version of an app."""
    states, order = {at: app.state for at, app in walk.apps(fleet)}, _positions(fleet.in_order())
    for at, apps in grouped(placed, lambda app: app.at).items():
        by_taken = grouped((app.place for app in apps), partial(taken_on, fleet, at))
        for taken, places in sorted(by_taken.items(), key=lambda item: (order[item[1][0].environment], -len(item[1]))):
            yield {
                "tenant": apps[0].owner,
                "name": at[-1],
                **taken._asdict(),
                "ref": dict(taken.ref) or None,
                "environments": _unique(place.environment for place in places),
                "clusters": _unique(place.cluster for place in places),
                "placements": [place._asdict() for place in places],
                "state": states[at],
                "where": format_places(places, [app.place for app in apps]),
            }


def _placements(fleet: Fleet, placed: list[Placed]) -> Iterator[Item]:
    by_place = grouped(
        (app for app in placed if app.owner != PLATFORM),
        lambda app: (app.place.environment, app.owner, app.place.cluster),
    )
    environments, tenants, clusters = map(_positions, (fleet.in_order(), fleet.document.tenants, fleet.clusters))
    for environment, tenant, cluster in sorted(
        by_place, key=lambda place: (environments[place[0]], tenants[place[1]], clusters[place[2]])
    ):
        yield {
            "environment": environment,
            "tenant": tenant,
            "cluster": cluster,
            "namespace": main_namespace(fleet, environment, tenant),
            "apps": {
                app.at[-1]: taken_on(fleet, app.at, app.place).short for app in by_place[environment, tenant, cluster]
            },
        }


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


_LISTS: dict[str, Callable[[Fleet, list[Placed]], Iterator[Item]]] = {
    "tenants": _tenants,
    "apps": _apps,
    "clusters": _clusters,
    "placements": _placements,
}
LISTS = tuple(_LISTS)
"""What can be listed."""


# --- what an app takes on a cluster ------------------------------------------------------------------------------------


class Taken(NamedTuple):
    """What an app takes on a cluster. chart, path: as they are written, with placeholders; version: of the chart."""

    source: str | None
    chart: str | None
    path: str | None
    version: str | None
    ref: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """The version of the chart, or the most exact part of the source's ref, such as `main` or `v1.2.0`; "" without any."""
        return self.version or next((text for key in _EXACT for name, text in self.ref if name == key), "")


def taken_on(fleet: Fleet, at: tuple[str, ...], place: Place) -> Taken:
    """What an app or add-on takes on a cluster."""
    layers = app_layers(fleet, at, *place)
    key = ("listed block", *(layer.path for layer in layers))
    kind = kind_of(fleet, at)
    block: dict[str, Any] = fleet.once(key, (), lambda: mapping_at(merge(layers), kind))
    variables = variables_of_app(fleet, at, *place)
    name = _filled(block.get("source"), variables)
    source = source_place(at, name)
    declared = source_data(fleet, source, *place)
    of_source = next((mapping_at(declared, kind) for kind in ("git", "oci") if kind in declared), {})
    placeholders = variables_of_source(fleet, source, *place)
    ref = tuple((key, _filled(text, placeholders) or "") for key, text in mapping_at(of_source, "ref").items())
    chart, path = _text(block.get("chart")), _text(block.get("path", "./" if kind == "kustomize" else None))
    name = name or (at[-1] if at[0] == "platform" else None)
    return Taken(name, chart, path, _filled(block.get("version"), variables), ref)


def format_places(places: Iterable[Place], every: Iterable[Place]) -> str:
    """Such as `dev; prod: 28 of 30 clusters`. every: the places of which they are a part."""
    total, parts = grouped(every, lambda place: place.environment), []
    for environment, own in grouped(places, lambda place: place.environment).items():
        most = len(total[environment])
        some = ", ".join(place.cluster for place in own) if len(own) <= _SHOWN else f"{len(own)} of {most} clusters"
        parts.append(environment if len(own) == most else f"{environment}: {some}")
    return ("; " if any(":" in part for part in parts) else ", ").join(parts)


def _filled(written: Any, variables: Variables) -> str | None:
    """A text with its placeholders filled in, or as it is written where planning refuses it."""
    try:
        return _text(fill(written, dict(variables), ()))
    except InvalidPart:
        return _text(written)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
