"""Rules about groups of clusters. What groups name is checked where they are merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.groups import GROUP, GROUPS, NAMING, kinds_of_kubeconfig
from tenantry.fleet.lineages import Lineages
from tenantry.fleet.rules.classes import named_once
from tenantry.messages.data import depth_of, leaves, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import format_path, listed


def groups_are_named_once(fleet: Fleet) -> Iterator[Problem]:
    """A group that is above another one of the list already does not come last because it is named last."""
    yield from named_once(_lineages(fleet), _naming(fleet))


def groups_of_a_cluster_agree(fleet: Fleet) -> Iterator[Problem]:
    """Two groups of one cluster set no key differently, unless one has the other above itself, or the cluster sets it."""
    lineages = _lineages(fleet)
    clashes = cache(lambda names: tuple(_clashes(lineages, names)))
    clusters: dict[tuple[Path, str, str], list[str]] = {}
    for name, cluster in fleet.clusters.items():
        for key, winner, loser in clashes(tuple(cluster.group or ())) if len(cluster.group or ()) > 1 else ():
            if fleet.source.origin(("clusters", name, *key))[:1] == (GROUPS,):
                clusters.setdefault((key, winner, loser), []).append(name)
    for (key, winner, loser), names in clusters.items():
        where = fleet.source.line_of((GROUPS, loser, *key))
        yield doubtful(
            (GROUPS, winner, *key),
            "groups-differ",
            f"groups '{loser}' and '{winner}' set '{format_path(key)}' differently; '{winner}' comes later and wins",
            (f"group '{loser}': {where}", f"clusters: {listed(names, 3)}"),
            fix="keep it in one of the two groups, or set it in the clusters themselves",
            at_key=True,
        )


def _clashes(lineages: Lineages, names: tuple[str, ...]) -> Iterator[tuple[Path, str, str]]:
    """The keys that groups of a list set differently, with the group that wins and the one that loses."""
    order = lineages.joined(names)
    said = {name: {key: each for key, each in lineages.declared[name].items() if key != GROUP} for name in order}
    for place, loser in enumerate(order):
        unrelated = [name for name in order[place + 1 :] if loser not in lineages.joined([name])]
        later = {name: said[name] for name in order[place + 1 :]}
        found: dict[tuple[Path, str], None] = {}
        for path, value in leaves(said[loser]):
            winner, at = next(((name, at) for name in reversed(later) if (at := _setting(later[name], path))), ("", ()))
            if winner in unrelated and value_at(later[winner], at) != value:
                found[at, winner] = None
        kinds = kinds_of_kubeconfig(said[loser])
        nearest = next((name for name in reversed(later) if kinds_of_kubeconfig(later[name])), "")
        if kinds and nearest in unrelated and not kinds <= kinds_of_kubeconfig(later[nearest]):
            found[("kubeconfig",), nearest] = None
        yield from ((at, winner, loser) for at, winner in found)


def _setting(said: Mapping[str, Any], path: Path) -> Path:
    """The key that decides the value at a path: itself, or a `null` above it; (): neither is there."""
    at = path[: depth_of(said, path)]
    return at if at and (at == path or value_at(said, at) is None) else ()


def _lineages(fleet: Fleet) -> Lineages:
    return Lineages(NAMING, fleet.raw(GROUPS))


def _naming(fleet: Fleet) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every place that names groups."""
    for section in (GROUPS, "clusters"):
        yield from (((section, name), NAMING.of(entry)) for name, entry in fleet.raw(section).items())
