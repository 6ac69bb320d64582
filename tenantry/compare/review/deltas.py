"""How a part on a cluster differs: what its two documents say, and what of it may be told of something larger."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from tenantry.compare.diff import Changed
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.model import PartKind, Setting
from tenantry.compare.review.parts import (
    ACTIVE,
    KINDS_OF_SOURCES,
    NOTIFICATIONS,
    Side,
    Spot,
    State,
    annotation,
    attached,
    state_at,
)
from tenantry.compare.review.untold import untold_of_manifests, untold_of_object
from tenantry.compare.review.words import Path, changed_keys, changed_settings, in_one_word, said, telling
from tenantry.fleet.settings import TIMES
from tenantry.kube.objects import KubeObject
from tenantry.model import PlacedSettings
from tenantry.plan.engine_order import WAIT
from tenantry.plan.planned_apps import PlannedApp


@dataclass(slots=True)
class Delta:
    """existed, exists: whether the part is there before and after.

    settings: of one side if the part is there on one alone. states: the part's own, before and after.
    replaced: whether the part has other objects than before.
    """

    existed: bool
    exists: bool
    settings: list[Setting] = field(default_factory=list)
    fields: list[FieldChange] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    states: tuple[State, State] = (ACTIVE, ACTIVE)
    replaced: bool = False

    @property
    def says_nothing(self) -> bool:
        return not (self.settings or self.fields or self.sentences)


_TOLD_APART = {"namespaces", "clusterAdmin", *TIMES}
"""Keys of a tenant that are told of its namespaces, where they permit something, or where they are handed down."""


def app_delta(spot: Spot, both: Both, found: Gathered, keys: Collection[str]) -> Delta:
    """The difference of an app, with its chart, and of an add-on with its source and namespaces, too.

    Args: keys: those that differ of what the app belongs to.
    """
    one, other = found.app_before(spot), found.app_after(spot)
    delta = Delta(existed=one is not None, exists=other is not None)
    old = _said_of_app(one, found.before) if one else {}
    new = _said_of_app(other, found.after) if other else {}
    if one is None or other is None:
        delta.settings = list(changed_settings(telling(old), telling(new)))
        return delta
    before, after = found.before.objects[one.id], found.after.objects[other.id]
    delta.replaced = before.id != after.id
    delta.states = (state_at(found.before, *one.at), state_at(found.after, *other.at))
    if before.id.kind != after.id.kind:
        old, new = telling(old), telling(new)
    changed = found.changed.get(after.id)
    if not delta.replaced and not _changes_values(changed):
        # They can be long, and the difference has compared them already.
        old.pop(("helm", "values"), None)
        new.pop(("helm", "values"), None)
    _without_inherited(one, old, other, new, found)
    delta.settings = list(changed_settings(old, new))
    if not delta.replaced:
        own = {"state"} if delta.states[0] != delta.states[1] else set()
        delta.fields = list(_untold(spot, both, found, {*changed_keys(old, new), *own, *keys}))
    delta.sentences = list(_waits(before, after))
    return delta


def _said_of_app(app: PlannedApp, side: Side) -> dict[Path, Any]:
    return said(side.documents.app(app.at, app.cluster))


def _without_inherited(
    one: PlannedApp, old: dict[Path, Any], other: PlannedApp, new: dict[Path, Any], found: Gathered
) -> None:
    """Leaves out the times that the app has from its tenant, or the platform, on both sides."""
    above = [
        side.documents.handed_down(app.tenant, app.cluster) for side, app in ((found.before, one), (found.after, other))
    ]
    for block in ("kustomize", "helm"):
        for time in TIMES:
            path = (block, time)
            if [old.get(path), new.get(path)] == [each[time] for each in above]:
                del old[path], new[path]


def _changes_values(changed: Changed | None) -> bool:
    return changed is not None and any(field.path[:2] == ("spec", "values") for field in changed.fields)


def _waits(before: KubeObject, after: KubeObject) -> Iterator[str]:
    (key,) = WAIT
    one, other = annotation(before.manifest, key), annotation(after.manifest, key)
    if other and not one:
        yield "`tenantry up` waits until it is ready, before it goes on to those that depend on it"
    elif one and not other:
        yield "`tenantry up` no longer waits until it is ready"


# --- parts that are no apps -------------------------------------------------------------------------------------------


def object_delta(spot: Spot, both: Both, found: Gathered, keys: Collection[str]) -> Delta:
    """The difference of a source, of the settings of a tenant or of the platform, or of another namespace of a tenant."""
    tenant, cluster = found.placement_before(spot)
    was = Spot(spot.part._replace(tenant=tenant), cluster)
    existed, exists = _is_there(was, both.before, found.before), _is_there(spot, both.after, found.after)
    delta = Delta(existed=existed, exists=exists)
    old = _said_of(was, found.before) if existed else {}
    new = _said_of(spot, found.after) if exists else {}
    if spot.part.kind is PartKind.SETTINGS:
        old = _used(old, set(_names(both.before, found.before)))
        new = _used(new, set(_names(both.after, found.after)))
    in_one_word(old, new)
    if not (existed and exists):
        delta.settings = list(changed_settings(_told(old, spot), _told(new, spot)))
        return delta
    old_objects = {each.id: each for each in both.before}
    delta.replaced = bool(both.before and both.after) and not any(each.id in old_objects for each in both.after)
    if spot.part.kind is PartKind.SOURCE and {each.id.kind for each in both.before} != {
        each.id.kind for each in both.after
    }:
        old, new = telling(old), telling(new)
    delta.settings = list(changed_settings(old, new))
    if spot.part.kind is PartKind.NAMESPACE:
        delta.states = (_state_of_namespace(was, found.before), _state_of_namespace(spot, found.after))
    if (spot.part.tenant, spot.cluster) not in found.moved and spot.cluster not in found.rehomed:
        own = {"state"} if delta.states[0] != delta.states[1] else set()
        delta.fields = list(_untold(spot, both, found, {*changed_keys(old, new), *own, *keys}))
    return delta


def _is_main(spot: Spot, side: Side) -> bool:
    """Whether the namespace of a part is the tenant's main one on this side."""
    return side.placements[spot.part.tenant, spot.cluster].namespace == spot.part.name


def _state_of_namespace(spot: Spot, side: Side) -> State:
    tenant = spot.part.tenant
    if _is_main(spot, side):
        return ACTIVE
    return state_at(side, "tenants", tenant, "namespaces", side.documents.key_of(tenant, spot.part.name))


def _said_of(spot: Spot, side: Side) -> dict[Path, Any]:
    (kind, tenant, name), cluster = spot
    if kind is PartKind.SOURCE:
        return said(side.documents.source(tenant, name, cluster))
    if kind is PartKind.NAMESPACE and not _is_main(spot, side):
        return said(side.documents.namespace(tenant, name, cluster))
    document = side.documents.tenant(tenant, cluster) if tenant else side.documents.platform(cluster)
    own = PlacedSettings.model_fields if kind is PartKind.NAMESPACE else document
    return said({key: value for key, value in document.items() if key in own and key not in _TOLD_APART})


_NAMED = frozenset({"alerts", "chart", "configs", "credentials", "receivers"})
"""Keys of an entry that only some placements use."""


def _used(words: dict[Path, Any], names: set[Path]) -> dict[Path, Any]:
    """Words without what no object of the difference comes from."""
    return {path: value for path, value in words.items() if path[0] not in _NAMED or {path[:1], path[:2]} & names}


def _names(objects: list[KubeObject], side: Side) -> Iterator[Path]:
    """The credentials, configs, alerts and receivers that objects come from, and the chart of baselines."""
    for each in objects:
        kind = each.id.kind
        if kind in ("Secret", "ConfigMap"):
            yield "credentials" if kind == "Secret" else "configs", attached(each.id.name)
        elif kind in NOTIFICATIONS:
            yield "receivers" if kind == "Receiver" else "alerts", side.short(each)
        elif kind in (*KINDS_OF_SOURCES, "HelmChart"):
            yield ("chart",)


def _told(words: dict[Path, Any], spot: Spot) -> dict[Path, Any]:
    """What one has to know of a part that comes. The name of a namespace is that of its part."""
    is_namespace = spot.part.kind is PartKind.NAMESPACE
    return {path: value for path, value in telling(words).items() if not (is_namespace and path[0] == "namespace")}


def _is_there(spot: Spot, objects: list[KubeObject], side: Side) -> bool:
    (kind, tenant, name), cluster = spot
    placement = side.placements.get((tenant, cluster))
    if kind is PartKind.SETTINGS:
        return placement is not None or (not tenant and cluster in side.clusters)
    if kind is PartKind.NAMESPACE:
        return placement is not None and name in placement.namespaces
    return bool(objects)


def _untold(spot: Spot, both: Both, found: Gathered, keys: Collection[str]) -> Iterator[FieldChange]:
    yield from untold_of_manifests(both.old, both.new, keys)
    is_source = spot.part.kind is PartKind.SOURCE
    for changed in filter(None, (found.changed.get(each.id) for each in both.after)):
        yield from untold_of_object(changed, keys, is_app=changed.id in found.after.app_of, is_source=is_source)
