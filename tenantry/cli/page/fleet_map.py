"""The data of a page: tenants as rows, clusters as columns, and entries that say what happens where.

Equal entries on many clusters are one entry, so a page of a large fleet stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from tenantry.model.clusters import Cluster

_MOST_OBJECTS = 10
"""How many objects of an entry are listed; the others are counted."""


class State(NamedTuple):
    """How a cell looks. key: for the style sheet; sign: what it shows, so that nothing depends on colours alone."""

    key: str
    label: str
    sign: str


class Column(NamedTuple):
    """A cluster in an environment. labels: what it can be grouped by, such as `region`; `group` is its cluster group."""

    environment: str
    cluster: str
    labels: tuple[tuple[str, str], ...] = ()


class Row(NamedTuple):
    """A tenant, or the platform. placed: the columns where it is; notes: sentences about the tenant as a whole."""

    name: str
    placed: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class Value(NamedTuple):
    """A value that changes, as text. before, after: None if there is no value; lines: of a difference of long texts."""

    key: str
    before: str | None = None
    after: str | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something that is the same in one row on all of these columns.

    row, columns, state: indices. kind, name: such as "app", "web"; of: how many columns the part is on.
    words: what a cell says of it, such as "2.3.0 → 2.4.0"; "" if its name says enough.
    lines: sentences; objects: those behind it.
    told: the index of the entry that tells the same of a whole cluster; -1: none.
    about: the indices of the changes that a danger belongs to: it is shown with them, and not by itself.
    alert: the index of the alert above the map that tells the same; -1: none.
    """

    row: int
    columns: tuple[int, ...]
    state: int
    kind: str
    name: str
    of: int = 0
    words: str = ""
    lines: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    objects: tuple[str, ...] = ()
    told: int = -1
    about: tuple[int, ...] = ()
    alert: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What stands above the map. entries: the indices of those that it is about."""

    label: str
    text: str
    where: str
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetMap:
    """states: in increasing severity, so that the worst one of a cell wins. idle: what a row without entries is called.

    listed: whether the list is shown first, because a map of so few cells says less.
    """

    states: tuple[State, ...]
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]
    alerts: tuple[Alert, ...] = ()
    idle: str = ""
    listed: bool = False


def as_data(shown: FleetMap) -> dict[str, Any]:
    """The map as JSON, with indices in place of repeated names."""
    facets = facets_of(shown.columns)
    values = {name: {value: at for at, value in enumerate(found)} for name, found in facets.items()}
    return {
        "states": [state._asdict() for state in shown.states],
        "idle": shown.idle,
        "view": "list" if shown.listed else "map",
        "facets": [{"name": name, "values": list(found)} for name, found in facets.items()],
        "columns": [
            [column.cluster, *(values[name][_labels(column).get(name, "")] for name in facets)]
            for column in shown.columns
        ],
        "rows": [_filled({"n": row.name, "p": ranges(row.placed), "l": row.notes}) for row in shown.rows],
        "entries": [_entry(entry) for entry in shown.entries],
        "alerts": [
            _filled({"label": alert.label, "text": alert.text, "entries": alert.entries}) for alert in shown.alerts
        ],
    }


def facets_of(columns: Sequence[Column]) -> dict[str, tuple[str, ...]]:
    """What the columns can be grouped by, the best first, with its values. A value that all columns share groups nothing."""
    found: dict[str, dict[str, None]] = {"environment": {}, "group": {}}
    for column in columns:
        for name in _labels(column):
            found.setdefault(name, {})
    for name, values in found.items():
        values.update((_labels(column).get(name, ""), None) for column in columns)
    useful = {name: tuple(values) for name, values in found.items() if len(values) > 1}
    # A label that is different on each cluster makes groups of one, so it comes last.
    return dict(sorted(useful.items(), key=lambda item: 2 * len(item[1]) > len(columns) and item[0] != "environment"))


def _labels(column: Column) -> dict[str, str]:
    return {**dict(column.labels), "environment": column.environment}


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """(0, 1, 2, 5) -> [[0, 2], [5, 5]]"""
    return list(_ranges(sorted(set(numbers))))


def _ranges(numbers: Sequence[int]) -> Iterator[list[int]]:
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        found = [number for _, number in run]
        yield [found[0], found[-1]]


def _entry(entry: Entry) -> dict[str, Any]:
    data = {
        "r": entry.row,
        "c": ranges(entry.columns),
        "s": entry.state,
        "k": entry.kind,
        "n": entry.name,
        "of": entry.of,
        "w": entry.words,
        "l": entry.lines,
        "v": [
            [value.key, value.before, value.after, *([value.lines] if value.lines else [])] for value in entry.values
        ],
        "o": entry.objects[:_MOST_OBJECTS],
        "m": max(len(entry.objects) - _MOST_OBJECTS, 0),
        "about": entry.about,
    }
    indices = {key: index for key, index in (("a", entry.alert), ("t", entry.told)) if index >= 0}
    return {**_filled(data), **indices, "r": entry.row, "s": entry.state}


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value}


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
                self.all.append(Column(environment, name, _labels_of(clusters.get(name))))
            self._of[environment] = tuple(range(begin, len(self.all)))

    def at(self, environment: str, clusters: Iterable[str]) -> tuple[int, ...]:
        """The columns of these clusters."""
        return tuple(self._at[environment, each] for each in dict.fromkeys(clusters) if (environment, each) in self._at)

    def of(self, environment: str) -> tuple[int, ...]:
        """All columns of an environment."""
        return self._of.get(environment, ())


def _labels_of(cluster: Cluster | None) -> tuple[tuple[str, str], ...]:
    if cluster is None:
        return ()
    own = {"group": ", ".join(cluster.group)} if cluster.group else {}
    # A label that is named like a facet of the page does not replace it.
    return tuple({**own, **{key: value for key, value in cluster.labels.items() if key not in _OWN}}.items())


_OWN = ("environment", "group")
