"""Builds the review of a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenantry.compare.diff import Diff
from tenantry.compare.review.collect import Collector
from tenantry.compare.review.dangers import dangers
from tenantry.compare.review.gather import Gathered
from tenantry.compare.review.grouping import changes
from tenantry.compare.review.model import EnvironmentReview, Review
from tenantry.compare.review.parts import Side
from tenantry.compare.review.renames import renames
from tenantry.compare.review.rollout_words import touched_waves
from tenantry.compare.review.tenants import Extent, in_order
from tenantry.compare.review.whole_environment import of_environment
from tenantry.plan.plan import Plan, nothing_of


def review(diffs: Sequence[Diff], before: Mapping[str, Plan], after: Mapping[str, Plan]) -> Review:
    """The review of all environments. Args: before, after: the plans that were compared, by environment."""
    changed = [each for each in diffs if each]
    return Review(
        environments=tuple(_environment(each, *_plans(each, before, after)) for each in changed),
        unchanged=tuple(each.environment for each in diffs if not each),
    )


def _plans(diff: Diff, before: Mapping[str, Plan], after: Mapping[str, Plan]) -> tuple[Plan, Plan]:
    one, other = before.get(diff.environment), after.get(diff.environment)
    there = one or other
    assert there is not None
    return one or nothing_of(there), other or nothing_of(there)


def _environment(diff: Diff, before: Plan, after: Plan) -> EnvironmentReview:
    one, other = Side(before), Side(after)
    renamed = renames(diff, before, after)
    gathered = Gathered(diff, one, other, renamed)
    collector = Collector(gathered, renamed)
    collector.run()
    extent = Extent(one, other, {old: new for new, old in gathered.old_clusters.items()})
    of_environment(diff, one, other, collector.items, extent)
    found = changes(collector.items.all(), extent.of, extent.order)
    clusters, tenants = in_order(found, one, other)
    return EnvironmentReview(
        environment=diff.environment,
        status=diff.status,
        diff=diff,
        total=max(len(one.clusters), len(other.clusters)),
        dangers=dangers(diff, before, after),
        clusters=clusters,
        tenants=tenants,
        waves=tuple(touched_waves(diff, before, after)),
    )
