"""What changes for a tenant because one of its classes changes: told of the class, once for all of its tenants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tenantry.compare.review.model import Change, Effect, Part, PartKind, Setting, TenantReview
from tenantry.compare.review.parts import Side
from tenantry.fleet.apps import app_layers
from tenantry.fleet.classes import CLASSES
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, origin
from tenantry.fleet.settings import settings_layers
from tenantry.messages.data import ABSENT, depth_of
from tenantry.messages.errors import Path
from tenantry.source.parsed_file import named_classes

_GROUPS = {PartKind.APP: "apps", PartKind.SOURCE: "sources"}
_KEY = re.compile(r'\["([^"]+)"\]|([^.\[\]]+)')


def by_class(reviews: Iterable[TenantReview], before: Side, after: Side) -> tuple[TenantReview, ...]:
    """The reviews, in which what classes change stands by itself, before the rest."""
    told = _Told(before, after)
    apart = [part for review in reviews for part in told.apart(review)] if told.has_classes else list(reviews)
    return tuple(sorted(apart, key=lambda review: (review.tenant != "", not review.of_class)))


class _Told:
    def __init__(self, before: Side, after: Side) -> None:
        self.sides = (before, after)
        self.has_classes = all(side.fleet and side.fleet.raw(CLASSES) for side in self.sides)

    def apart(self, review: TenantReview) -> Iterator[TenantReview]:
        """What each class changes, and what is left."""
        if review.effect is not Effect.CHANGED or not self._has_the_same_classes(review.tenant):
            yield review
            return
        of_classes: dict[str, list[Change]] = {}
        left: list[Change] = []
        for change in review.changes:
            for name, part in self._divided(change):
                (of_classes.setdefault(name, []) if name else left).append(part)
        for name, changes in of_classes.items():
            yield TenantReview(tenant=review.tenant, effect=review.effect, of_class=name, changes=tuple(changes))
        if left or review.sentences or not of_classes:
            yield replace(review, changes=tuple(left))

    def _has_the_same_classes(self, tenant: str) -> bool:
        """Another class is the tenant's own change."""
        before, after = (named_classes(fleet.raw("tenants", tenant)) for fleet in self._fleets())
        return before == after != ()

    def _fleets(self) -> Iterator[Fleet]:
        yield from (side.fleet for side in self.sides if side.fleet)

    def _divided(self, change: Change) -> Iterator[tuple[str, Change]]:
        """A change by the class behind it; "" for what is the tenant's own. Its objects are in one of the parts."""
        of_class: dict[str, list[Setting]] = {}
        for setting in change.settings if change.effect is Effect.CHANGED else ():
            of_class.setdefault(self._behind(change, setting), []).append(setting)
        if change.effect in (Effect.ADDED, Effect.REMOVED):
            yield self._behind_whole(change), change
        elif len(of_class) == 1 and not change.fields:
            yield next(iter(of_class)), change
        else:
            own = of_class.pop("", [])
            is_left = bool(own or change.fields or change.sentences or not of_class)
            objects = () if is_left else change.objects
            for name, settings in of_class.items():
                part = replace(change, settings=tuple(settings), fields=(), sentences=())
                yield name, replace(part, objects=objects)
                objects = ()
            if is_left:
                yield "", replace(change, settings=tuple(own))

    def _behind_whole(self, change: Change) -> str:
        """The class that an app or a source comes or goes with."""
        group = _GROUPS.get(change.part.kind)
        _, *there = self._fleets() if change.effect is Effect.ADDED else reversed([*self._fleets()])
        return _class_at(there[0], ("tenants", change.part.tenant, group, change.part.name)) if group else ""

    def _behind(self, change: Change, setting: Setting) -> str:
        """The class that sets a value, on both sides where there is one."""
        path = tuple(quoted or plain for quoted, plain in _KEY.findall(setting.key))
        found: set[str] = set()
        for side, value in zip(self.sides, (setting.before, setting.after), strict=True):
            if value is not ABSENT and side.fleet:
                layers = _layers(side, side.fleet, change.part, change.clusters[0] if change.clusters else "")
                if at := _origin(layers, path):
                    found.add(_class_at(side.fleet, at))
        return found.pop() if len(found) == 1 else ""


def _layers(side: Side, fleet: Fleet, part: Part, cluster: str) -> Sequence[Layer]:
    """The layers of a part of a tenant on a cluster; none for a part that is told in other words."""
    group, environment = _GROUPS.get(part.kind), side.plan.environment
    at = ("tenants", part.tenant, str(group), part.name)
    if not fleet.raw("tenants", part.tenant) or (group and not fleet.raw(*at)) or cluster not in fleet.clusters:
        return ()
    if part.kind is PartKind.APP:
        return app_layers(fleet, at, environment, cluster)
    if part.kind is PartKind.SOURCE:
        return (Layer(at, fleet.raw(*at)), *(Layer((*at, kind), fleet.raw(*at, kind)) for kind in fleet.raw(*at)))
    if part.kind is PartKind.SETTINGS and not part.name:
        return settings_layers(fleet, part.tenant, environment, cluster)
    return ()


def _origin(layers: Sequence[Layer], path: Path) -> Path | None:
    """Where a value is written; None: nobody says it, so it is a default."""
    return origin(layers, path) if any(depth_of(layer.data, path) for layer in layers) else None


def _class_at(fleet: Fleet, at: Path) -> str:
    written = fleet.source.origin(at)
    return str(written[1]) if written[:1] == (CLASSES,) else ""
