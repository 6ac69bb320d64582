"""The rule about windows: each name is declared."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Path, Problem
from tenantry.messages.text import declared


def windows_are_declared(fleet: Fleet) -> Iterator[Problem]:
    known = fleet.names("windows")
    for at, who, name in windows_named(fleet):
        if name not in known:
            message = f"{who} names window '{name}', which is not declared"
            fix = "declare it under 'windows:', or correct the name"
            yield Problem(at, "unknown-window", message, (declared("declared", name, known),), fix)


def windows_named(fleet: Fleet) -> Iterator[tuple[Path, str, str]]:
    """Each name where it is written, and who writes it."""
    document = fleet.document
    lists = [
        *((("environments", name), "environment", each.windows) for name, each in document.environments.items()),
        *((("clusterGroups", name), "group", each.windows or ()) for name, each in document.clusterGroups.items()),
        *((("clusters", name), "cluster", each.windows) for name, each in document.clusters.items()),
    ]
    for at, noun, names in lists:
        for index, window in enumerate(names):
            path = (*at, "windows", index)
            # What is inherited is told where it is written.
            if fleet.source.origin(path) == path:
                yield path, f"{noun} '{at[1]}'", window
