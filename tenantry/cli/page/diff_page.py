"""The page of `tenantry diff`: dangers, why the change is refused, and the map of what changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tenantry.cli.page.document import Notice, Page, notice_of
from tenantry.cli.page.fleet_map import FleetMap
from tenantry.cli.page.in_short import title
from tenantry.cli.page.review_map import review_map
from tenantry.compare.review.model import Change, PartKind, Review
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed, printable
from tenantry.model.clusters import Cluster
from tenantry.plan.plan import Plan


def diff_page(
    review: Review,
    base: str,
    refused: Iterable[Refused],
    clusters: Mapping[str, Cluster],
    before: Mapping[str, Plan],
    after: Mapping[str, Plan],
) -> Page:
    """Args: base: what was compared with; refused: why the change is refused; clusters: of both files, by name."""
    shown = review_map(review, clusters, before, after)
    differs = bool(review.environments)
    return Page(
        command="tenantry diff",
        heading=title(review) if differs else "No difference",
        about=f"compared with {printable(base)}",
        figures=_figures(review, shown) if differs else (),
        refusals=tuple(map(notice_of, refused)),
        alarm="Look at these first",
        calm="No dangers found" if differs else "",
        notes=_notes(review),
        map=shown,
    )


def _notes(review: Review) -> tuple[Notice, ...]:
    if not (review.environments and review.unchanged):
        return ()
    return (Notice((f"No difference in {listed(map(printable, review.unchanged))}.",)),)


def _figures(review: Review, shown: FleetMap) -> tuple[tuple[str, str], ...]:
    """The numbers above the map: dangers, tenants, apps, clusters, objects."""
    found = list(_changes(review))
    parts = {(tenant, each.part) for _, tenant, each in found if each.part.kind in (PartKind.APP, PartKind.ADDON)}
    clusters = {(environment, cluster) for environment, _, each in found for cluster in each.clusters}
    diffs = [each.diff for each in review.environments]
    added, removed = (
        sum(len(share.objects) for share in own) for own in zip(*((d.added, d.removed) for d in diffs), strict=True)
    )
    return (
        _figure(len(shown.alerts), "danger"),
        _figure(len({tenant for _, tenant, _ in found if tenant}), "tenant"),
        (str(len(parts)), "apps and add-ons"),
        (f"{len(clusters)} of {sum(each.total for each in review.environments)}", "clusters"),
        (f"+{added} ~{sum(len(diff.changed) for diff in diffs)} \N{MINUS SIGN}{removed}", "objects"),
    )


def _figure(number: int, noun: str) -> tuple[str, str]:
    return str(number), noun if number == 1 else f"{noun}s"


def _changes(review: Review) -> Iterator[tuple[str, str, Change]]:
    """All changes with their environments and tenants."""
    for environment in review.environments:
        yield from ((environment.environment, "", cluster) for cluster in environment.clusters)
        yield from (
            (environment.environment, one.tenant, change) for one in environment.tenants for change in one.changes
        )
