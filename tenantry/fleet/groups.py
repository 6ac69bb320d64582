"""Clusters that belong to groups, merged before their shape is checked, so that a group can supply a required key.

The merged data knows where the author wrote each value, so findings are reported in the group or in the cluster.

Called by: `load`, on the joined data of all files. So nothing here may rely on the type of a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tenantry.fleet.inherit import MAX_ABOVE, cycles, lineage, too_long, whole
from tenantry.fleet.merge import Layer, origin
from tenantry.fleet.template import fill
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found, Path, Problem, first_of
from tenantry.messages.problems import empty_list, missing_key
from tenantry.messages.text import declared
from tenantry.source.parsed_file import ParsedFile

_GROUP = "group"
_KUBECONFIG = "kubeconfig"
_NO_CLUSTERS = (missing_key((), "clusters"), empty_list(("clusters",)))
_FIX = "write '{cluster}', the only placeholder here, or '{{' and '}}' for braces"


@dataclass(frozen=True, slots=True)
class Grouped:
    """source: the file with whole clusters; findings: groups that do not exist or form a circle, placeholders that are unknown.

    incomplete: the clusters that lack what such a group would have given them.
    """

    source: ParsedFile
    findings: tuple[Problem, ...] = ()
    incomplete: frozenset[str] = frozenset()

    def is_follow_up(self, finding: Problem) -> bool:
        """Whether a finding about clusters only repeats that a group or an included file is wrong."""
        path = finding.path
        if self.source.lacks_clusters and finding in _NO_CLUSTERS:
            return True
        repeated = finding.code == "missing-key" or path[2:3] == (_KUBECONFIG,)
        return repeated and path[:1] == ("clusters",) and path[1] in self.incomplete


def grouped(source: ParsedFile) -> Grouped:
    """Merge into every cluster what its group says. Data of a wrong shape is left unchanged for the check of shapes."""
    clusters, groups = source.data.get("clusters"), source.data.get("clusterGroups", {})
    if not isinstance(clusters, dict) or not isinstance(groups, dict):
        return Grouped(source)
    members = {name: group for name, own in clusters.items() if isinstance(group := _group(own), str)}
    parents = {name: group for name, own in groups.items() if isinstance(group := _group(own), str)}
    if not (members or parents):
        return Grouped(source)
    return _Grouping(source, clusters, groups, parents).run(members)


def _group(entry: Any) -> Any:
    return entry.get(_GROUP) if isinstance(entry, dict) else None


class _Grouping:
    """Merges layers, and collects what is wrong with groups as a whole."""

    def __init__(
        self, source: ParsedFile, clusters: dict[str, Any], groups: dict[str, Any], parents: Mapping[str, str]
    ) -> None:
        self.source = source
        self.clusters = clusters
        self.groups = groups
        self.parents = parents
        self.layers: dict[str, tuple[Layer, ...]] = {}
        self.findings: list[Problem] = []
        self.incomplete: set[str] = set()

    def run(self, members: Mapping[str, str]) -> Grouped:
        self.findings += (
            *_unknown("clusters", members, self.groups),
            *_unknown("clusterGroups", self.parents, self.groups),
        )
        if long := next(too_long(self.parents), None):
            self.findings.append(_too_long(long))
            return Grouped(self.source, first_of(self.findings), frozenset(members))
        self.findings += _circles(self.parents)
        broken = {str(finding.path[1]) for finding in self.findings if finding.path[0] == "clusterGroups"}
        clusters = dict(self.clusters)
        for name, group in members.items():
            chain = lineage(group, self.parents)
            if broken.isdisjoint(chain) and all(isinstance(self.groups.get(each), dict) for each in chain):
                clusters[name] = self._whole(name, chain)
            else:
                self.incomplete.add(name)
        merged = self.source.merged({**self.source.data, "clusters": clusters}, self._origin)
        return Grouped(merged, first_of(dict.fromkeys(self.findings)), frozenset(self.incomplete))

    def _whole(self, name: str, chain: list[str]) -> dict[str, Any]:
        above = [self._inherited(group, name) for group in chain]
        own = Layer(("clusters", name), self.clusters[name])
        layers = self.layers[name] = tuple(_of_one_kind([*above, own]))
        return whole(layers)

    def _inherited(self, group: str, cluster: str) -> Layer:
        """What a group says, with the cluster's name filled in."""
        at = ("clusterGroups", group)
        data = {key: value for key, value in self.groups[group].items() if key != _GROUP}
        if _KUBECONFIG in data:
            try:
                data[_KUBECONFIG] = fill(data[_KUBECONFIG], {"cluster": cluster}, (*at, _KUBECONFIG))
            except Found as found:
                self.findings += (replace(finding, fix=_FIX) for finding in found.findings)
                self.incomplete.add(cluster)
        return Layer(at, data)

    def _origin(self, path: Path) -> Path:
        layers = self.layers.get(str(path[1])) if path[:1] == ("clusters",) and len(path) > 1 else None
        return origin(layers, path[2:]) if layers else self.source.origin(path)


def _of_one_kind(layers: list[Layer]) -> Iterator[Layer]:
    """The layers without kubeconfigs of another kind than the nearest one names: half of each would be none."""
    kinds = next((found for each in reversed(layers) if (found := _kinds(each))), set())
    for layer in layers:
        others = _kinds(layer) - kinds
        if others:
            kept = {key: value for key, value in layer.data[_KUBECONFIG].items() if key not in others}
            yield Layer(layer.path, {**layer.data, _KUBECONFIG: kept})
        else:
            yield layer


def _kinds(layer: Layer) -> set[str]:
    return {key for key, value in mapping_at(layer.data, _KUBECONFIG).items() if value is not None}


def _unknown(where: str, members: Mapping[str, str], groups: Mapping[str, Any]) -> Iterator[Problem]:
    what = "cluster" if where == "clusters" else "group"
    for name, group in members.items():
        if group not in groups:
            yield Problem(
                (where, name, _GROUP),
                "unknown-group",
                f"{what} '{name}' names group '{group}', which is not declared",
                (declared("declared", group, groups.keys() - ({name} if what == "group" else set())),),
                fix="declare it under 'clusterGroups:', or correct the name",
            )


def _circles(parents: Mapping[str, str]) -> Iterator[Problem]:
    for circle in cycles(parents):
        first = circle[0]
        what = f"group '{first}' names itself" if len(circle) == 2 else f"groups name each other: {' -> '.join(circle)}"
        yield Problem(("clusterGroups", first, _GROUP), "group-cycle", what, fix="remove one 'group:'")


def _too_long(name: str) -> Problem:
    return Problem(
        ("clusterGroups", name, _GROUP),
        "groups-too-many",
        f"group '{name}' has more than {MAX_ABOVE - 1} groups above it, one through the other",
        fix="name one of them directly",
    )
