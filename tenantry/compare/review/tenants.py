"""The changes by tenant, in the order of the file, and on how many clusters each part is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from tenantry.compare.review.model import Change, Effect, Part, PartKind, TenantReview
from tenantry.compare.review.parts import Side
from tenantry.messages.text import grouped

_ORDER = {kind: rank for rank, kind in enumerate(("tenant", "settings", "namespace", "source", "addon", "app"))}
_WHOLE = (PartKind.CLUSTER, PartKind.ENVIRONMENT)


class Extent:
    """On which clusters parts are, before or after. order: of the clusters in the plans."""

    def __init__(self, before: Side, after: Side, new_names: Mapping[str, str]) -> None:
        """new_names: of clusters that are renamed."""
        self._sides = (before, after)
        self._new_names = new_names
        names = dict.fromkeys(map(self._name, (*after.clusters, *before.clusters)))
        self.order = {name: index for index, name in enumerate(names)}

    def _name(self, cluster: str) -> str:
        return self._new_names.get(cluster, cluster)

    def of(self, part: Part) -> int:
        """On how many clusters the part is."""
        if part.kind in (PartKind.APP, PartKind.ADDON):
            return len(self._apps.get((part.tenant, part.name), ()))
        if part.kind is PartKind.SOURCE:
            return len(self._sources.get((part.tenant, part.name), ()))
        return len(self._tenants.get(part.tenant, ())) if part.tenant else len(self.order)

    @cached_property
    def _apps(self) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        for side in self._sides:
            for app in side.plan.apps:
                found.setdefault((app.tenant, app.name), set()).add(self._name(app.cluster))
        return found

    @cached_property
    def _tenants(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for side in self._sides:
            for each in side.plan.placements:
                found.setdefault(each.tenant, set()).add(self._name(each.cluster))
        return found

    @cached_property
    def _sources(self) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        for side in self._sides:
            for id in side.uses.users:
                object = side.uses.objects[id]
                if object.owner.tenant and id.kind != "HelmChart":
                    name = side.naming.short(object.owner, id.name)
                    found.setdefault((object.owner.tenant, name), set()).add(self._name(object.owner.cluster))
        return found


def in_order(
    changes: Iterable[Change], before: Side, after: Side
) -> tuple[tuple[Change, ...], tuple[TenantReview, ...]]:
    """What happens to clusters, and what happens to tenants; the platform comes first."""
    changes = list(changes)
    clusters = [each for each in changes if each.part.kind in _WHOLE]
    own = grouped((each for each in changes if each.part.kind not in _WHOLE), lambda each: each.part.tenant)
    names = dict.fromkeys(("", *after.tenants, *before.tenants, *own))
    tenants = tuple(_tenant(name, own[name], before, after) for name in names if name in own)
    return tuple(sorted(clusters, key=lambda each: each.part.kind is not PartKind.ENVIRONMENT)), tenants


def _tenant(name: str, changes: list[Change], before: Side, after: Side) -> TenantReview:
    was = next((each.was for each in changes if each.part.kind is PartKind.TENANT and each.was), "")
    effect = Effect.RENAMED if was else Effect.CHANGED
    if name and not was and name in after.tenants and name not in before.tenants:
        effect = Effect.ADDED
    if name and not was and name in before.tenants and name not in after.tenants:
        effect = Effect.REMOVED
    ordered = tuple(sorted(changes, key=lambda each: _ORDER.get(each.part.kind, 0)))
    return TenantReview(tenant=name, effect=effect, was=was, changes=ordered)
