"""Builds the review of a difference."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.compare.diff import Diff
from tenantry.compare.review.collect import Collector
from tenantry.compare.review.dangers import dangers
from tenantry.compare.review.gather import Gathered
from tenantry.compare.review.grouping import changes
from tenantry.compare.review.model import EnvironmentReview, Review
from tenantry.compare.review.parts import Planned, Side
from tenantry.compare.review.renames import renames
from tenantry.compare.review.rollout_words import touched_waves
from tenantry.compare.review.tenants import Extent, in_order
from tenantry.compare.review.whole_environment import of_environment
from tenantry.plan.plan import nothing_of


def review(diffs: Sequence[Diff], before: Planned, after: Planned) -> Review:
    """The review of all environments. Args: before, after: the files and the plans that were compared."""
    changed = [each for each in diffs if each]
    return Review(
        environments=tuple(_environment(each, before, after) for each in changed),
        unchanged=tuple(each.environment for each in diffs if not each),
    )


def _environment(diff: Diff, old: Planned, new: Planned) -> EnvironmentReview:
    there = old.plans.get(diff.environment) or new.plans[diff.environment]
    before, after = (each.plans.get(diff.environment) or nothing_of(there) for each in (old, new))
    one, other = Side(before, old.fleet), Side(after, new.fleet)
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
