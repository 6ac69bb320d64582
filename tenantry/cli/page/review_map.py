"""The fleet as a map, with the review of a difference in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tenantry.cli.diff.values import format_field
from tenantry.cli.diff.words import OneDanger, dangers, told_by
from tenantry.cli.page.danger_places import changes_of
from tenantry.cli.page.document import bounded, value_of
from tenantry.cli.page.fleet_map import Alert, Columns, Entry, FleetMap, Row, State, Value
from tenantry.cli.page.in_short import in_short
from tenantry.compare.review.model import Change, Danger, Effect, EnvironmentReview, PartKind, Review
from tenantry.kube.names import PLATFORM
from tenantry.messages.text import grouped, printable
from tenantry.model.clusters import Cluster
from tenantry.plan.plan import Plan

STATES = (
    State("changed", "changed", "~"),
    State("renamed", "renamed", "→"),
    State("added", "added", "+"),
    State("removed", "removed", "\N{MINUS SIGN}"),
    State("danger", "dangerous", "!"),
)
_AT = {each.key: at for at, each in enumerate(STATES)}
_MOST_VALUES = 100


def review_map(
    review: Review, clusters: Mapping[str, Cluster], before: Mapping[str, Plan], after: Mapping[str, Plan]
) -> FleetMap:
    """The map of the environments with differences. Args: clusters: those of the fleet; before, after: what was compared."""
    building = _Building(
        review, clusters, {each.environment: _plans(each, before, after) for each in review.environments}
    )
    for environment in review.environments:
        building.add(environment)
    return building.finished(review)


def _plans(review: EnvironmentReview, before: Mapping[str, Plan], after: Mapping[str, Plan]) -> list[Plan]:
    # What comes after is first, so that its order counts.
    return [each[review.environment] for each in (after, before) if review.environment in each]


class _Building:
    """Collects rows and entries. Equal changes of several environments are one entry."""

    def __init__(self, review: Review, clusters: Mapping[str, Cluster], plans: Mapping[str, list[Plan]]) -> None:
        self.columns = Columns(
            {each.environment: _clusters(each, plans[each.environment]) for each in review.environments}, clusters
        )
        self.changes: list[tuple[Change, Entry]] = []
        self.alike: dict[object, int] = {}
        self.placed: dict[str, list[int]] = {"": []}
        self.notes: dict[str, dict[str, None]] = {}
        for environment, found in plans.items():
            for tenant, cluster in (placement for plan in found for placement in _placements(plan)):
                self.placed.setdefault(tenant, []).extend(self.columns.at(environment, [cluster]))
        for tenant in (each.tenant for environment in review.environments for each in environment.tenants):
            self.placed.setdefault(tenant, [])
        self.rows = {tenant: at for at, tenant in enumerate(self.placed)}
        self.placed_in = list(map(set, self.placed.values()))
        self.changed: list[set[int]] = [set() for _ in self.rows]

    def add(self, review: EnvironmentReview) -> None:
        wholes: list[tuple[Change, int]] = []
        for change in review.clusters:
            wholes.append((change, self.change(review, "", change)))
        for tenant in review.tenants:
            self.notes.setdefault(tenant.tenant, {}).update(dict.fromkeys(map(printable, tenant.sentences)))
            for change in tenant.changes:
                tell = told_by(review, change) if tenant.tenant and tenant.effect is Effect.CHANGED else ()
                told = next((at for whole, at in wholes if whole in tell), -1)
                self.change(review, tenant.tenant, change, told)

    def change(self, review: EnvironmentReview, tenant: str, change: Change, told: int = -1) -> int:
        """Returns the index of its entry. Args: told: that of the change of a whole cluster that tells it, too."""
        row = self.rows.get(tenant, 0)
        columns = self.columns.at(review.environment, change.clusters) or self.there(review.environment, row)
        self.changed[row].update(columns)
        values = (repr(change.settings), repr(change.fields))
        likeness = (row, change.part, change.effect, change.was, change.sentences, *values)
        entry = replace(_entry(row, columns, change), told=told)
        if likeness not in self.alike:
            self.alike[likeness] = len(self.changes)
            self.changes.append((change, entry))
            return self.alike[likeness]
        at = self.alike[likeness]
        first, known = self.changes[at]
        joined = replace(
            known,
            columns=(*known.columns, *columns),
            of=known.of + entry.of,
            objects=tuple(dict.fromkeys((*known.objects, *entry.objects))),
        )
        self.changes[at] = (first, joined)
        return at

    def dangers(self, review: Review) -> tuple[tuple[Alert, ...], tuple[Entry, ...]]:
        """The dangers, each once for all environments, and their entries: one in each row that a danger concerns."""
        alerts: list[Alert] = []
        entries: list[Entry] = []
        by_row = grouped(range(len(self.changes)), lambda at: self.changes[at][1].row)
        for together in dangers(review, wherever=True):
            rows = [self.rows[tenant] for tenant in together.danger.tenants if tenant in self.rows] or [0]
            own = [self.danger(together, len(alerts), row, by_row.get(row, [])) for row in rows]
            first = len(self.changes) + len(entries)
            entries += own
            alerts.append(
                Alert(
                    label=_label(together.danger),
                    text=bounded(together.danger.text),
                    where=printable(together.environments),
                    entries=tuple(range(first, first + len(own))),
                )
            )
        return tuple(alerts), tuple(entries)

    def danger(self, together: OneDanger, alert: int, row: int, changes: Sequence[int]) -> Entry:
        columns = tuple(
            column
            for environment, danger in together.each
            for column in self.columns.at(environment, danger.clusters) or self.there(environment, row)
        )
        near = [at for at in changes if not {*columns}.isdisjoint(self.changes[at][1].columns)]
        found = [near[at] for at in changes_of(together.danger, [self.changes[at][0] for at in near])]
        wholes = dict.fromkeys(self.changes[at][1].told for at in found)
        return Entry(
            row=row,
            columns=columns,
            state=_AT["danger"],
            kind=_label(together.danger),
            name="",
            about=(*found, *(at for at in wholes if at >= 0)),
            alert=alert,
        )

    def there(self, environment: str, row: int) -> tuple[int, ...]:
        """Where a change takes effect that names no clusters: where its row changes, or where the row is, or everywhere."""
        every = set(self.columns.of(environment))
        return tuple(sorted(self.changed[row] & every or self.placed_in[row] & every or every))

    def finished(self, review: Review) -> FleetMap:
        alerts, dangerous = self.dangers(review)
        entries = (*(entry for _, entry in self.changes), *dangerous)
        rows = tuple(
            Row(printable(tenant) or PLATFORM, tuple(placed), tuple(self.notes.get(tenant, ())))
            for tenant, placed in self.placed.items()
        )
        return FleetMap(
            states=STATES,
            rows=rows,
            columns=tuple(self.columns.all),
            entries=entries,
            alerts=alerts,
            idle="unchanged",
            listed=len({(entry.row, column) for entry in entries for column in entry.columns}) < _FEW_CELLS,
        )


_FEW_CELLS = 20
"""Fewer cells that change are shown as a list first."""


def _entry(row: int, columns: tuple[int, ...], change: Change) -> Entry:
    return Entry(
        row=row,
        columns=columns,
        state=_AT[change.effect.value],
        kind=_KINDS.get(change.part.kind, change.part.kind.value),
        name=printable(change.part.name),
        of=change.of,
        words=in_short(change),
        lines=tuple(map(bounded, change.sentences)),
        values=tuple(_values(change)),
        objects=tuple(printable(str(each)) for each in change.objects),
    )


def _label(danger: Danger) -> str:
    return danger.kind.value.replace("-", " ")


_KINDS = {PartKind.ADDON: "add-on"}


def _clusters(review: EnvironmentReview, plans: Iterable[Plan]) -> Iterator[str]:
    yield from (planned.owner.cluster for plan in plans for planned in plan.objects if planned.owner.cluster)
    yield from (cluster for each in review.clusters for cluster in each.clusters)
    yield from (cluster for tenant in review.tenants for change in tenant.changes for cluster in change.clusters)
    yield from (cluster for danger in review.dangers for cluster in danger.clusters)


def _placements(plan: Plan) -> Iterator[tuple[str, str]]:
    yield from ((placement.tenant, placement.cluster) for placement in plan.placements)
    yield from (("", app.cluster) for app in plan.apps if not app.tenant)


def _values(change: Change) -> Iterator[Value]:
    named: list[tuple[str, Any, Any]] = [(setting.key, setting.before, setting.after) for setting in change.settings]
    named += [(format_field(field.path), field.before, field.after) for field in change.fields]
    yield from (value_of(*each) for each in named[:_MOST_VALUES])
    if len(named) > _MOST_VALUES:
        yield Value(f"and {len(named) - _MOST_VALUES} more; `tenantry diff --all` shows them")
