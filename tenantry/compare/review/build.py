"""Builds the review of a difference: its changes by tenant, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenantry.compare.diff import Diff
from tenantry.compare.review.collect import Collector
from tenantry.compare.review.dangers import dangers
from tenantry.compare.review.environment import of_environment, touched_waves
from tenantry.compare.review.gather import Gathered
from tenantry.compare.review.items import changes
from tenantry.compare.review.model import APPS, Change, Effect, EnvironmentReview, Part, PartKind, Review, TenantReview
from tenantry.compare.review.of_classes import by_class
from tenantry.compare.review.parts import Planned, Side, is_shared
from tenantry.compare.review.renames import renames
from tenantry.messages.text import grouped
from tenantry.plan.plan import nothing_of

_ORDER = {kind: rank for rank, kind in enumerate(("tenant", "settings", "namespace", "source", "addon", "app"))}
_WHOLE = (PartKind.CLUSTER, PartKind.ENVIRONMENT)


class Extent:
    """On which clusters parts are, before or after. order: of the clusters in the plans."""

    def __init__(self, before: Side, after: Side, new_names: Mapping[str, str]) -> None:
        """new_names: of clusters that are renamed."""
        found: dict[tuple[PartKind, str, str], set[str]] = {}
        for side in (before, after):
            for app in side.plan.apps:
                kind = PartKind.APP if app.tenant else PartKind.ADDON
                found.setdefault((kind, app.tenant, app.name), set()).add(new_names.get(app.cluster, app.cluster))
            for tenant, cluster in side.placements:
                found.setdefault((PartKind.TENANT, tenant, ""), set()).add(new_names.get(cluster, cluster))
            own = (side.spot_of(side.objects[id]) for id in side.users if not is_shared(side.objects[id]))
            for (kind, tenant, name), cluster in (*own, *side.shared):
                if kind is PartKind.SOURCE:
                    found.setdefault((kind, tenant, name), set()).add(new_names.get(cluster, cluster))
        names = dict.fromkeys(new_names.get(each, each) for each in (*after.clusters, *before.clusters))
        self.order = {name: index for index, name in enumerate(names)}
        self._clusters = found

    def of(self, part: Part) -> int:
        """On how many clusters the part is."""
        if part.kind in (*APPS, PartKind.SOURCE):
            return len(self._clusters.get(part, ()))
        return len(self._clusters.get((PartKind.TENANT, part.tenant, ""), ())) if part.tenant else len(self.order)


def in_order(
    changes: Iterable[Change], before: Side, after: Side
) -> tuple[tuple[Change, ...], tuple[TenantReview, ...]]:
    """What happens to clusters, and what happens to tenants; the platform comes first."""
    changes = list(changes)
    clusters = [change for change in changes if change.part.kind in _WHOLE]
    own = grouped((each for each in changes if each.part.kind not in _WHOLE), lambda each: each.part.tenant)
    names = dict.fromkeys(("", *after.tenants, *before.tenants, *own))
    tenants = tuple(_tenant(name, own[name], before, after) for name in names if name in own)
    return tuple(sorted(clusters, key=lambda each: each.part.kind is not PartKind.ENVIRONMENT)), tenants


def _tenant(name: str, changes: list[Change], before: Side, after: Side) -> TenantReview:
    was = next((change.was for change in changes if change.part.kind is PartKind.TENANT and change.was), "")
    effect = Effect.RENAMED if was else Effect.CHANGED
    if name and not was and name in after.tenants and name not in before.tenants:
        effect = Effect.ADDED
    if name and not was and name in before.tenants and name not in after.tenants:
        effect = Effect.REMOVED
    ordered = tuple(sorted(changes, key=lambda each: _ORDER.get(each.part.kind, 0)))
    return TenantReview(tenant=name, effect=effect, was=was, changes=ordered)


def review(diffs: Sequence[Diff], before: Planned, after: Planned) -> Review:
    """The review of all environments.

    Args: before, after: the files and the plans that were compared.
    """
    changed = [diff for diff in diffs if diff]
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
    of_environment(diff, one, other, collector.items, tuple(extent.order))
    found = changes(collector.items.all(), extent.of, extent.order)
    clusters, tenants = in_order(found, one, other)
    return EnvironmentReview(
        environment=diff.environment,
        status=diff.status,
        diff=diff,
        total=max(len(one.clusters), len(other.clusters)),
        dangers=dangers(diff, before, after),
        clusters=clusters,
        tenants=by_class(tenants, one, other),
        waves=touched_waves(diff, before, after),
    )
