"""The page of `tenantry diff`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tenantry.cli.diff.words import extent
from tenantry.cli.page.document import Page
from tenantry.cli.page.review_map import review_map
from tenantry.compare.review.model import Change, PartKind, Review
from tenantry.messages.text import listed, printable
from tenantry.model.clusters import Cluster
from tenantry.plan.plan import Plan


def diff_page(
    review: Review,
    base: str,
    refused: Iterable[str],
    clusters: Mapping[str, Cluster],
    before: Mapping[str, Plan],
    after: Mapping[str, Plan],
) -> Page:
    """Args: base: what was compared with; refused: why the change is refused; clusters: those of the fleet."""
    names = listed(printable(each.environment) for each in review.environments)
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
        (f"+{added} ~{sum(len(each.changed) for each in diffs)} \N{MINUS SIGN}{removed}", "objects"),
    )


def _changes(review: Review) -> Iterator[tuple[str, str, Change]]:
    """All changes with their environments and tenants."""
    for environment in review.environments:
        yield from ((environment.environment, "", each) for each in environment.clusters)
        yield from ((environment.environment, one.tenant, each) for one in environment.tenants for each in one.changes)
