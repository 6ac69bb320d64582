"""Which other places of a fleet set the same value with more weight, so that a change shows nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Path

_DEPTHS = {"defaults": 1, "tenants": 2, "clusterGroups": 2}
"""How many parts of a path lead to the entry that has settings, by the first part."""


def overriding(data: Any, path: Path) -> list[Path]:
    """The paths that set the value at `path` for a part of the fleet, or for all of it, and take precedence."""
    return [each for each in _candidates(data, path) if value_at(data, each, ABSENT) is not ABSENT]


def _candidates(data: Any, path: Path) -> Iterator[Path]:
    holder, rest = _parted(path)
    if not rest:
        return
    for over in ("environments", "clusters"):
        for name in mapping_at(data, *holder, "overrides", over):
            yield (*holder, "overrides", over, name, *rest)
    where = value_at(data, (*holder, "overrides", "where"), ())
    for index in range(len(where) if isinstance(where, list) else 0):
        yield (*holder, "overrides", "where", index, *rest)
    yield from (
        each for below in _below(data, holder) for each in ((*below, *rest), *_candidates(data, (*below, *rest)))
    )


def _parted(path: Path) -> tuple[Path, Path]:
    """The path of the entry that holds a setting, and the path of the setting in it."""
    if path[:2] == ("platform", "addons"):
        return path[:3], path[3:]
    if path[:1] == ("tenants",) and path[2:3] == ("apps",):
        return path[:4], path[4:]
    depth = _DEPTHS.get(str(path[0]), len(path))
    return path[:depth], path[depth:]


def _below(data: Any, holder: Path) -> Iterator[Path]:
    """The entries that take a setting over from this one unless they set it."""
    if holder == ("defaults",):
        yield from (("tenants", name) for name in mapping_at(data, "tenants"))
    elif holder[0] == "clusterGroups":
        clusters = mapping_at(data, "clusters")
        yield from (("clusters", name) for name in clusters if mapping_at(clusters, name).get("group") == holder[1])
    elif holder[0] == "tenants" and len(holder) == 2:
        yield from ((*holder, "apps", name) for name in mapping_at(data, *holder, "apps"))
