"""What an app takes on each of its clusters: the version that is planned there, from which source, chart or path.

Called by: `lists`, for the versions of apps and sources and for `--uses`. The levels are those that the plan merges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tenantry.fleet.apps import app_layers, kind_of
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge
from tenantry.fleet.settings import variables_of_app
from tenantry.fleet.sources import source_data, source_place, variables_of_source
from tenantry.fleet.template import fill
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found, Path, Refused
from tenantry.messages.placeholders import Variables

USES = ("chart", "source", "address")
"""What can be asked of an app: the name of its chart, the name of its source, the address of its source."""
_SOURCES = ("git", "oci", "helm", "bucket", "externalArtifact")
_EXACT = ("digest", "commit", "name", "semver", "tag", "branch")
"""The keys of a ref. Flux takes the first of those that are there."""
_SHOWN = 3
"""The most clusters that are named. More are counted."""


class Place(NamedTuple):
    """A cluster of an environment."""

    environment: str
    cluster: str


class Source(NamedTuple):
    """A source on a cluster. ref: pairs of a key and a text, such as `tag` and `v1.2.0`; address: with its scheme, or ""."""

    ref: tuple[tuple[str, str], ...]
    address: str


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


class Taking:
    """What the apps of a fleet take. Values are kept for the clusters on which the same levels hold."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._blocks: dict[tuple[Path, ...], dict[str, Any]] = {}

    def app(self, at: tuple[str, ...], place: Place) -> tuple[Taken, Source]:
        """What an app or add-on takes on a cluster."""
        block = self._block(at, place)
        variables = variables_of_app(self.fleet, at, *place)
        name = _filled(block.get("source"), variables)
        source = self.source(source_place(at, name), place)
        name = name or (at[-1] if at[0] == "platform" else None)
        chart, path = (_text(block.get(key)) for key in ("chart", "path"))
        return Taken(name, chart, path, _filled(block.get("version"), variables), source.ref), source

    def source(self, at: tuple[str, ...], place: Place | None) -> Source:
        """A source by its path. place: None: with placeholders as they are written."""
        declared = source_data(self.fleet, at, *place) if place else self.fleet.raw(*at)
        kind = next((key for key in declared if key in _SOURCES), "")
        block = mapping_at(declared, kind)
        variables = variables_of_source(self.fleet, at, *place) if place else {}
        ref = tuple((key, _filled(text, variables) or "") for key, text in mapping_at(block, "ref").items())
        url = _filled(block.get("url") or block.get("endpoint"), variables) or ""
        bucket = _filled(block.get("bucketName"), variables)
        return Source(ref, f"{url}/{bucket}" if bucket else url)

    def _block(self, at: tuple[str, ...], place: Place) -> dict[str, Any]:
        layers = app_layers(self.fleet, at, *place)
        key = tuple(layer.path for layer in layers)
        if key not in self._blocks:
            self._blocks[key] = mapping_at(merge(layers), kind_of(self.fleet, at))
        return self._blocks[key]


def uses(taken: Taken, source: Source, wanted: Sequence[tuple[str, str]]) -> bool:
    """Whether an app uses everything that is asked for, by the keys of `USES`."""
    return all(_uses(taken, source, key, text) for key, text in wanted)


def _uses(taken: Taken, source: Source, key: str, text: str) -> bool:
    match key:
        case "chart":
            return taken.chart == text
        case "source":
            return taken.source == text
        case "address":
            of_chart = f"{source.address.rstrip('/')}/{taken.chart}"
            return any(_is_below(each, text) for each in (source.address, of_chart))
    raise Refused(f"'{key}' is nothing that apps use", f"write {', '.join(f'{each}=NAME' for each in USES)}")


def _is_below(address: str, above: str) -> bool:
    """Whether an address is another one or lies below it. Without a scheme, any scheme and user will do."""
    if "://" in above and address.partition("://")[0] != above.partition("://")[0]:
        return False
    one, other = _bare(address), _bare(above)
    return bool(other) and (one == other or one.startswith(f"{other}/"))


def _bare(address: str) -> str:
    """An address without its scheme, its user, and the end that hosts ignore."""
    host, slash, path = address.rpartition("://")[2].partition("/")
    return f"{host.rpartition('@')[2]}{slash}{path}".rstrip("/").removesuffix(".git").casefold()


def in_words(places: Iterable[Place], every: Iterable[Place]) -> str:
    """Places in words, such as `dev; prod: 28 of 30 clusters`. every: those of which they are a part."""
    total = _by_environment(every)
    words = [_share(name, clusters, total[name]) for name, clusters in _by_environment(places).items()]
    return ("; " if any(":" in each for each in words) else ", ").join(words)


def _share(environment: str, clusters: Sequence[str], every: Sequence[str]) -> str:
    if len(clusters) == len(every):
        return environment
    some = ", ".join(clusters) if len(clusters) <= _SHOWN else f"{len(clusters)} of {len(every)} clusters"
    return f"{environment}: {some}"


def _by_environment(places: Iterable[Place]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for place in places:
        found.setdefault(place.environment, []).append(place.cluster)
    return found


def _filled(written: Any, variables: Variables) -> str | None:
    """A text with its placeholders filled in, or as it is written where planning refuses it."""
    try:
        return _text(fill(written, dict(variables), ()))
    except Found:
        return _text(written)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
