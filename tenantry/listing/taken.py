"""What an app takes on each of its clusters: the version that is planned there, from which source, chart or path.

Called by: `lists`, for the versions of apps. The levels are those that the plan merges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tenantry.fleet.apps import app_layers, kind_of, source_data, source_place, variables_of_source
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge
from tenantry.fleet.settings import variables_of_app
from tenantry.fleet.template import fill
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import InvalidPart, Path
from tenantry.messages.placeholders import Variables

_EXACT = ("digest", "commit", "name", "semver", "tag", "branch")
"""The keys of a ref. Flux takes the first of those that are there."""
_SHOWN = 3
"""The most clusters that are named. More are counted."""


class Place(NamedTuple):
    """A cluster of an environment."""

    environment: str
    cluster: str


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

    def app(self, at: tuple[str, ...], place: Place) -> Taken:
        """What an app or add-on takes on a cluster."""
        block = self._block(at, place)
        variables = variables_of_app(self.fleet, at, *place)
        name = _filled(block.get("source"), variables)
        ref = self._ref(source_place(at, name), place)
        name = name or (at[-1] if at[0] == "platform" else None)
        chart, path = (_text(block.get(key)) for key in ("chart", "path"))
        return Taken(name, chart, path, _filled(block.get("version"), variables), ref)

    def _ref(self, at: tuple[str, ...], place: Place) -> tuple[tuple[str, str], ...]:
        """The ref of a source by its path."""
        declared = source_data(self.fleet, at, *place)
        block = next((mapping_at(declared, kind) for kind in ("git", "oci") if kind in declared), {})
        variables = variables_of_source(self.fleet, at, *place)
        return tuple((key, _filled(text, variables) or "") for key, text in mapping_at(block, "ref").items())

    def _block(self, at: tuple[str, ...], place: Place) -> dict[str, Any]:
        layers = app_layers(self.fleet, at, *place)
        key = tuple(layer.path for layer in layers)
        if key not in self._blocks:
            self._blocks[key] = mapping_at(merge(layers), kind_of(self.fleet, at))
        return self._blocks[key]


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
    except InvalidPart:
        return _text(written)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
