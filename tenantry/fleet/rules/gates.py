"""Rules about the gate of an environment, `after: {environment: NAME}`: whether it can ever open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.placement import placements_of
from tenantry.fleet.sources import source_layers
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.model import After

_EXACT = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")


def gates_can_open(fleet: Fleet) -> Iterator[Problem]:
    """A version waits until the environment before runs it. One that is newer than all that it gets there waits for ever."""
    for name, declared in fleet.environments.items():
        if not isinstance(declared.after, After):
            continue
        before = declared.after.environment
        for what, versions in _versions(fleet, (before, name)):
            there = [_number(version) for version in versions[before]]
            for version, place in versions[name].items():
                number = _number(version)
                if there and number and all(opening and opening < number for opening in there):
                    gives = ", ".join(sorted(versions[before]))
                    message = f"{what} waits until '{before}' runs {version}, and this file gives '{before}' {gives}"
                    yield doubtful(place, "never-opens", message, fix=f"give '{before}' {version} first")


def _versions(fleet: Fleet, names: tuple[str, str]) -> Iterator[tuple[str, dict[str, dict[str, Path]]]]:
    """What environments give each app and source that has several versions: by environment, each version with its place."""
    for at, *_ in walk.apps(fleet):
        if len({str(block.get("version")) for _, block in walk.blocks(fleet, at) if "version" in block}) > 1:
            placed = (
                (name, app_layers(fleet, at, name, cluster))
                for name, cluster in placements_of(fleet, at)
                if name in names
            )
            yield walk.app_in_words(at), _found(placed, names, ("helm", "version"))
    for source_at, source in walk.sources(fleet):
        tag = (source.kind, "ref", "tag")
        levels = (source_at, *(path for path, _ in walk.source_patches(fleet, source_at)))
        if len({str(value_at(fleet.source.data, (*level, *tag))) for level in levels}) > 1:
            of_source = (
                (name, tuple(source_layers(fleet, source_at, name, cluster)))
                for name in names
                for cluster in clusters_of(fleet, name)
            )
            yield f"source '{source_at[-1]}'", _found(of_source, names, tag)


def _found(
    placed: Iterator[tuple[str, tuple[Layer, ...]]], names: tuple[str, str], path: Path
) -> dict[str, dict[str, Path]]:
    found: dict[str, dict[str, Path]] = {name: {} for name in names}
    for name, layers in placed:
        if isinstance(version := value_at(merge(layers), path), str):
            found[name][version] = origin(layers, path)
    return found


def _number(version: str) -> tuple[int, ...]:
    """The parts of an exact version; () for anything else, which cannot be compared."""
    match = _EXACT.fullmatch(version)
    return tuple(int(part or 0) for part in match.groups()) if match else ()
