"""The fleet as a map, with the review of a difference in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tenantry.cli.diff.values import format_field
from tenantry.cli.diff.words import extent
from tenantry.cli.page.document import Page, bounded, value_of
from tenantry.cli.page.fleet_map import Alert, Columns, Entry, FleetMap, Row, State, Value
from tenantry.compare.review.model import Change, Danger, EnvironmentReview, PartKind, Review
from tenantry.kube.names import PLATFORM
from tenantry.messages.text import grouped, listed, printable
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
    return building.finished()


def _plans(review: EnvironmentReview, before: Mapping[str, Plan], after: Mapping[str, Plan]) -> list[Plan]:
    # What comes after is first, so that its order counts.
    return [each[review.environment] for each in (after, before) if review.environment in each]


class _Building:
    """Collects rows and entries, environment by environment."""

    def __init__(self, review: Review, clusters: Mapping[str, Cluster], plans: Mapping[str, list[Plan]]) -> None:
        self.columns = Columns(
            {each.environment: _clusters(each, plans[each.environment]) for each in review.environments}, clusters
        )
        self.entries: list[Entry] = []
        self.alerts: list[Alert] = []
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
        for change in review.clusters:
            self.change(review, "", change)
        for tenant in review.tenants:
            self.notes.setdefault(tenant.tenant, {}).update(dict.fromkeys(map(printable, tenant.sentences)))
            for change in tenant.changes:
                self.change(review, tenant.tenant, change)
        for danger in review.dangers:
            self.danger(review, danger)

    def change(self, review: EnvironmentReview, tenant: str, change: Change) -> None:
        row = self.rows.get(tenant, 0)
        columns = self.columns.at(review.environment, change.clusters) or self.there(review.environment, row)
        self.changed[row].update(columns)
        self.entries.append(
            Entry(
                row=row,
                columns=columns,
                state=_AT[change.effect.value],
                kind=_KINDS.get(change.part.kind, change.part.kind.value),
                name=printable(change.part.name),
                of=change.of,
                lines=tuple(map(bounded, change.sentences)),
                values=tuple(_values(change)),
                objects=tuple(printable(str(each)) for each in change.objects),
            )
        )

    def danger(self, review: EnvironmentReview, danger: Danger) -> None:
        rows = [self.rows[tenant] for tenant in danger.tenants if tenant in self.rows] or [0]
        found = []
        for row in rows:
            columns = self.columns.at(review.environment, danger.clusters) or self.there(review.environment, row)
            found.append(len(self.entries))
            self.entries.append(
                Entry(
                    row=row,
                    columns=columns,
                    state=_AT["danger"],
                    kind=danger.kind.value.replace("-", " "),
                    name="",
                    lines=(bounded(danger.text),),
                )
            )
        self.alerts.append(
            Alert(
                label=danger.kind.value.replace("-", " "),
                text=bounded(danger.text),
                where=printable(review.environment),
                entries=tuple(found),
            )
        )

    def there(self, environment: str, row: int) -> tuple[int, ...]:
        """Where a change takes effect that names no clusters: where its row changes, or where the row is, or everywhere."""
        every = set(self.columns.of(environment))
        return tuple(sorted(self.changed[row] & every or self.placed_in[row] & every or every))

    def finished(self) -> FleetMap:
        rows = tuple(
            Row(printable(tenant) or PLATFORM, tuple(placed), tuple(self.notes.get(tenant, ())))
            for tenant, placed in self.placed.items()
        )
        return FleetMap(
            states=STATES,
            rows=rows,
            columns=tuple(self.columns.all),
            entries=tuple(self.entries),
            alerts=tuple(map(_joined, grouped(self.alerts, lambda each: (each.label, each.text)).values())),
            idle="unchanged",
        )


_KINDS = {PartKind.ADDON: "add-on"}


def _joined(alike: Sequence[Alert]) -> Alert:
    """The same danger of several environments."""
    entries = tuple(entry for each in alike for entry in each.entries)
    return replace(alike[0], where=", ".join(dict.fromkeys(each.where for each in alike)), entries=entries)


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


def diff_page(
    review: Review,
    base: str,
    refused: Iterable[str],
    clusters: Mapping[str, Cluster],
    before: Mapping[str, Plan],
    after: Mapping[str, Plan],
) -> Page:
    """Args: base: what was compared with; refused: why the change is refused; clusters: those of the fleet."""
    names = listed(printable(environment.environment) for environment in review.environments)
    return Page(
        command="tenantry diff",
        heading=f"{names}: {extent(review.environments)}" if names else "No difference",
        about=f"compared with {printable(base)}",
        figures=_figures(review) if names else (),
        refusals=tuple(printable(each) for each in refused),
        alarm="Look at these first",
        calm="No dangers found" if names else "",
        notes=_notes(review),
        map=review_map(review, clusters, before, after),
    )


def _notes(review: Review) -> tuple[str, ...]:
    if not (review.environments and review.unchanged):
        return ()
    return (f"No difference in {listed(map(printable, review.unchanged))}.",)


def _figures(review: Review) -> tuple[tuple[str, str], ...]:
    """The numbers above the map: dangers, tenants, apps, clusters, objects."""
    found = list(_changes(review))
    parts = {(tenant, each.part) for _, tenant, each in found if each.part.kind in (PartKind.APP, PartKind.ADDON)}
    clusters = {(environment, cluster) for environment, _, each in found for cluster in each.clusters}
    diffs = [each.diff for each in review.environments]
    added, removed = (
        sum(len(share.objects) for share in own) for own in zip(*((d.added, d.removed) for d in diffs), strict=True)
    )
    return (
        (str(sum(len(each.dangers) for each in review.environments)), "dangers"),
        (str(len({tenant for _, tenant, _ in found if tenant})), "tenants"),
        (str(len(parts)), "apps and add-ons"),
        (f"{len(clusters)} of {sum(each.total for each in review.environments)}", "clusters"),
        (f"+{added} ~{sum(len(diff.changed) for diff in diffs)} \N{MINUS SIGN}{removed}", "objects"),
    )


def _changes(review: Review) -> Iterator[tuple[str, str, Change]]:
    """All changes with their environments and tenants."""
    for environment in review.environments:
        yield from ((environment.environment, "", cluster) for cluster in environment.clusters)
        yield from (
            (environment.environment, one.tenant, change) for one in environment.tenants for change in one.changes
        )
