"""Clusters that belong to groups, merged before their shape is checked, so that a group can supply a required key.

Of several groups, later ones take precedence, and each comes after the groups that it names itself.

The merged data knows where the author wrote each value, so findings are reported in the group or in the cluster.

Called by: `load`, on the joined data of all files. So nothing here may rely on the type of a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tenantry.fleet.inherit import whole
from tenantry.fleet.lineages import Lineages, Naming
from tenantry.fleet.merge import Layer, origin
from tenantry.fleet.template import fill
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found, Path, Problem, first_of
from tenantry.messages.problems import empty_list, missing_key
from tenantry.source.parsed_file import ParsedFile

GROUP = "group"
GROUPS = "clusterGroups"
NAMING = Naming(GROUPS, GROUP, "groups")
_KUBECONFIG = "kubeconfig"
_NO_CLUSTERS = (missing_key((), "clusters"), empty_list(("clusters",)))
_FIX = "write '{cluster}', the only placeholder here, or double the braces of a text"


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
        if self.source.lacks_pieces and finding in _NO_CLUSTERS:
            return True
        repeated = finding.code == "missing-key" or path[2:3] == (_KUBECONFIG,)
        return repeated and path[:1] == ("clusters",) and path[1] in self.incomplete


def grouped(source: ParsedFile) -> Grouped:
    """Merge into every cluster what its group says. Data of a wrong shape is left unchanged for the check of shapes."""
    clusters, groups = source.data.get("clusters"), source.data.get(GROUPS, {})
    if not isinstance(clusters, dict) or not isinstance(groups, dict):
        return Grouped(source)
    members = {
        name: NAMING.of(own) for name, own in clusters.items() if mapping_at(clusters, name).get(GROUP) is not None
    }
    if not members and not any(map(NAMING.of, groups.values())):
        return Grouped(source)
    return _Grouping(source, clusters, groups).run(members)


class _Grouping:
    """Merges layers, and collects what is wrong with groups as a whole."""

    def __init__(self, source: ParsedFile, clusters: dict[str, Any], groups: dict[str, Any]) -> None:
        self.source = source
        self.clusters = clusters
        self.groups = groups
        self.lineages = Lineages(NAMING, groups)
        self.layers: dict[str, tuple[Layer, ...]] = {}
        self.findings: list[Problem] = []
        self.incomplete: set[str] = set()

    def run(self, members: Mapping[str, tuple[str, ...]]) -> Grouped:
        """Args: members: the groups that each cluster names."""
        self.findings += self.lineages.findings
        clusters = dict(self.clusters)
        for name, groups in members.items():
            at, who = ("clusters", name), f"cluster '{name}'"
            self.findings += (
                *NAMING.named_twice(at, who, groups),
                *NAMING.unknown(at, who, groups, self.groups),
            )
            if groups and self.lineages.are_sound(groups):
                clusters[name] = self._whole(name, self.lineages.joined(groups))
            else:
                self.incomplete.add(name)
        merged = self.source.merged({**self.source.data, "clusters": clusters}, self._origin)
        return Grouped(merged, first_of(dict.fromkeys(self.findings)), frozenset(self.incomplete))

    def _whole(self, name: str, order: tuple[str, ...]) -> dict[str, Any]:
        above = [self._inherited(group, name) for group in order]
        own = Layer(("clusters", name), self.clusters[name])
        layers = self.layers[name] = tuple(_of_one_kind([*above, own]))
        return whole(layers)

    def _inherited(self, group: str, cluster: str) -> Layer:
        """What a group says, with the cluster's name filled in."""
        at = (GROUPS, group)
        data = {key: value for key, value in self.groups[group].items() if key != GROUP}
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
    kinds = next((found for each in reversed(layers) if (found := kinds_of_kubeconfig(each.data))), set())
    for layer in layers:
        others = kinds_of_kubeconfig(layer.data) - kinds
        if others:
            kept = {key: value for key, value in layer.data[_KUBECONFIG].items() if key not in others}
            yield Layer(layer.path, {**layer.data, _KUBECONFIG: kept})
        else:
            yield layer


def kinds_of_kubeconfig(entry: Mapping[str, Any]) -> set[str]:
    """Under which keys a cluster or a group says where the kubeconfig is."""
    return {key for key, value in mapping_at(entry, _KUBECONFIG).items() if value is not None}
