"""Rules about what an app or a tenant says itself, and no environment has, or not every one: an override outweighs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.apps import MERGED, REFS, app_layers, source_layers
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer
from tenantry.fleet.placement import barrier, placements_of, placements_of_source, placements_of_tenant, tenant_barrier
from tenantry.fleet.settings import settings_layers
from tenantry.fleet.templates import DEFAULTS, is_shared
from tenantry.grants.grants import is_filled
from tenantry.messages.data import ABSENT, leaves, value_at, without
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import format_path
from tenantry.model import PlacedSettings, Source, When
from tenantry.source.parsed_file import override_of

_SETTINGS = frozenset(PlacedSettings.model_fields)
_OF_SOURCES = frozenset(Source.model_fields)
_NEEDED = frozenset({"bucketName", "endpoint", "ref", "url"})
"""Keys without which a source is not complete."""
_WHAT = ("source", "chart")
"""Keys that say what an app is. They stay, for those who read the file."""
_SHOWN = 3
"""The most environments whose overrides are named."""


def base_values_are_used(fleet: Fleet) -> Iterator[Problem]:
    """Sure is only what all environments override into which the app or tenant may come, whatever clusters they have now."""
    templates = {environment.extends for environment in fleet.environments.values()}
    layers: Mapping[str, Sequence[Layer]]
    real = [name for name in fleet.environments if name not in templates or clusters_of(fleet, name)]
    for at, _, _, _ in walk.apps(fleet):
        if not _is_overridden(fleet, at):
            continue
        environments = [name for name in real if not barrier(fleet, name, at)]
        layers = {name: app_layers(fleet, at, name, None) for name in environments}
        for path, by in _overridden(_own_keys(fleet, at, MERGED), layers):
            # What a template says is for its other tenants, too.
            if path[-1] not in _WHAT and not is_shared(fleet.source.origin((*at, *path))):
                fold = _fold(fleet, at, by) if _are_the_only_ones(layers, path) else ""
                yield _unused(fleet, walk.format_app(at), (*at, *path), by, fold)
    for at, _ in walk.sources(fleet):
        if not _is_overridden(fleet, at):
            continue
        environments = [
            name for name in real if any(name == placed_in for placed_in, _ in placements_of_source(fleet, at))
        ]
        layers = {name: source_layers(fleet, at, name, None) for name in environments}
        for path, by in _overridden(_own_keys(fleet, at, _OF_SOURCES), layers):
            needed = len(path) > 1 and path[1] in _NEEDED
            fix = "write one of theirs there, and remove that override: a source has one of its own" if needed else ""
            yield _unused(fleet, walk.format_source(at), (*at, *path), by, fix)
    for tenant, declared in fleet.document.tenants.items():
        of = ("tenants", tenant)
        if not _is_overridden(fleet, of):
            continue
        environments = [
            name
            for name in real
            if not tenant_barrier(fleet, name, tenant)
            or any(not barrier(fleet, name, (*of, "apps", app)) for app in declared.apps)
        ]
        layers = {name: settings_layers(fleet, tenant, name, None) for name in environments}
        for path, by in _overridden(_own_keys(fleet, of, _SETTINGS), layers):
            place: Path = (*of, *path)
            if not is_filled(fleet, place) and fleet.source.origin(place)[:1] != (DEFAULTS,):
                yield _unused(fleet, f"tenant '{tenant}'", place, by)


def overrides_of_defaults_outweigh_nobody(fleet: Fleet) -> Iterator[Problem]:
    """An override of `defaults` comes after the keys of every tenant. Who writes a tenant may not know of it."""
    if not fleet.document.defaults.overrides:
        return
    for tenant, entry in fleet.document.tenants.items():
        at, placements = ("tenants", tenant), placements_of_tenant(fleet, tenant)
        paths = [path for path, _ in walk.overrides(entry.overrides, at)]
        own = {path[-1] for path in paths if fleet.source.origin(path)[:1] != (DEFAULTS,)}
        for path, override in walk.overrides(entry.overrides, at):
            if path[-1] in own or not _holds(fleet, override.when, placements):
                continue
            for below, value in leaves(without(fleet.raw(*path), [("when",)])):
                own_value = value_at(fleet.source.data, (*at, *below), ABSENT)
                again = any(fleet.source.has((*at, "overrides", index, *below)) for index in own)
                if (
                    own_value in (ABSENT, value)
                    or value == {}
                    or again
                    or is_shared(fleet.source.origin((*at, *below)))
                ):
                    continue
                place, where = (*path, *below), override.when.description
                yield doubtful(
                    (*at, *below),
                    "outweighed",
                    f"an override of 'defaults' outweighs this '{below[-1]}' of tenant '{tenant}': {where}",
                    (f"override: {fleet.source.line_of(place)}",),
                    fix="if it is meant for there too, write it in an override of the tenant",
                    at_key=True,
                )


def _holds(fleet: Fleet, when: When, placements: Iterable[tuple[str, str]]) -> bool:
    """Whether an override holds on one of some placements."""
    return any(when.holds(fleet.lineage(environment), on, fleet.clusters[on].labels) for environment, on in placements)


def _is_overridden(fleet: Fleet, at: tuple[str, ...]) -> bool:
    """Whether there is an override of an entry, or of what has it: most fleets have few."""
    return any("overrides" in fleet.raw(*at[:length]) for length in range(1, len(at) + 1))


def _own_keys(fleet: Fleet, at: tuple[str, ...], keys: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in fleet.raw(*at).items() if key in keys}


def _overridden(
    written: dict[str, Any], layers: Mapping[str, Sequence[Layer]]
) -> Iterator[tuple[Path, dict[str, Path]]]:
    """The paths below an entry that all environments override, each with the places of the overrides by environment."""
    over = {
        name: [layer for layer in of_environment if override_of(layer.path)] for name, of_environment in layers.items()
    }
    if not over or not all(over.values()):
        return
    for path in _leaves(written):
        by = {name: place for name, of_environment in over.items() if (place := _last(of_environment, path))}
        if len(by) == len(over):
            yield path, by


def _last(layers: Sequence[Layer], path: Path) -> Path | None:
    """Where the last override of a value stands. What is merged into the value does not replace it."""
    whole = path in REFS
    values = ((layer.path, value_at(layer.data, path, ABSENT)) for layer in reversed(layers))
    places = (place for place, value in values if value is not ABSENT and (whole or not isinstance(value, dict)))
    return next(((*place, *path) for place in places), None)


def _are_the_only_ones(layers: Mapping[str, Sequence[Layer]], path: Path) -> bool:
    """Whether one override in each environment sets the value: without it, none of less weight would."""
    return all(
        sum(
            bool(override_of(layer.path)) and value_at(layer.data, path, ABSENT) is not ABSENT
            for layer in of_environment
        )
        == 1
        for of_environment in layers.values()
    )


def _leaves(data: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(data, dict) and path not in REFS:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif data is not None:
        yield path


def _fold(fleet: Fleet, at: tuple[str, ...], by: dict[str, Path]) -> str:
    """How equal overrides become the app's own; "" if they are not equal, remove it, or are of one environment."""
    placed = {environment for environment, _ in placements_of(fleet, at)}
    values = [value_at(fleet.source.data, place) for place in by.values()]
    if len(placed & by.keys()) < 2 or any(value is None or value != values[0] for value in values):
        return ""
    return "all of them have the same value: write it here, and remove it from the overrides"


def _unused(fleet: Fleet, owner: str, path: Path, by: dict[str, Path], fold: str = "") -> Problem:
    places = [f"{name}: {fleet.source.line_of(place)}" for name, place in by.items()]
    more = [f"and {len(places) - _SHOWN} more environments"] if len(places) > _SHOWN else []
    return doubtful(
        path,
        "never-used",
        f"no environment has this '{path[-1]}' of {owner}: each of them overrides it",
        (*places[:_SHOWN], *more),
        fix=fold or f"remove it: tenantry set {format_path(path)} null",
        at_key=True,
    )
