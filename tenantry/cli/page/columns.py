"""The columns of a page: the clusters of environments, with what they can be grouped by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenantry.cli.page.fleet_map import Column
from tenantry.model.clusters import Cluster


class Columns:
    """The clusters of some environments in order: those of the fleet as in the file, then those that it no longer has."""

    def __init__(self, named: Mapping[str, Iterable[str]], clusters: Mapping[str, Cluster]) -> None:
        order = {name: at for at, name in enumerate(clusters)}
        self.all: list[Column] = []
        self._at: dict[tuple[str, str], int] = {}
        self._of: dict[str, tuple[int, ...]] = {}
        for environment, names in named.items():
            begin = len(self.all)
            for name in sorted(dict.fromkeys(names), key=lambda each: order.get(each, len(order))):
                self._at[environment, name] = len(self.all)
                self.all.append(Column(environment, name, _labels(clusters.get(name))))
            self._of[environment] = tuple(range(begin, len(self.all)))

    def at(self, environment: str, clusters: Iterable[str]) -> tuple[int, ...]:
        """The columns of these clusters."""
        return tuple(self._at[environment, each] for each in dict.fromkeys(clusters) if (environment, each) in self._at)

    def of(self, environment: str) -> tuple[int, ...]:
        """All columns of an environment."""
        return self._of.get(environment, ())

    def names(self, columns: Sequence[int]) -> list[str]:
        return [self.all[each].cluster for each in columns]


def _labels(cluster: Cluster | None) -> tuple[tuple[str, str], ...]:
    if cluster is None:
        return ()
    own = {"group": cluster.group} if cluster.group else {}
    # A label that is named like a facet of the page does not replace it.
    return tuple({**own, **{key: value for key, value in cluster.labels.items() if key not in _OWN}}.items())


_OWN = ("environment", "group")
