"""How a source, the settings of a tenant or of the platform, or a namespace on a cluster differs."""

from __future__ import annotations

from typing import Any

from tenantry.compare.review.delta import NAME, Delta, take_states
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.model import PartKind
from tenantry.compare.review.naming import label
from tenantry.compare.review.one_word import in_one_word
from tenantry.compare.review.parts import NOTIFICATIONS, Side, Spot
from tenantry.compare.review.source_words import KINDS as SOURCES
from tenantry.compare.review.source_words import attached_words, notification_words, source_words, telling_source
from tenantry.compare.review.states import State, state_of
from tenantry.compare.review.tenant_words import Where, manifest_words, release_words
from tenantry.compare.review.words import Path, Words, changed_rest, changed_settings
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import SHARD_LABEL

_NOT_OF_THE_FILE: tuple[Path, ...] = (("git", "interval"), ("git", "timeout"), ("git", "sparseCheckout"))
"""What the plan adds to the Git repository of the chart for baselines."""


def object_delta(spot: Spot, both: Both, found: Gathered) -> Delta:
    """The difference of a part that is no app."""
    was = _under_former_names(spot, found)
    old = _words(both.before, both.old, was, found.before)
    new = _words(both.after, both.new, spot, found.after)
    existed, exists = _is_there(was, both.before, found.before), _is_there(spot, both.after, found.after)
    delta = Delta(existed=existed, exists=exists)
    if existed and exists:
        _with_base(old, new, spot)
    if spot.part.kind in (PartKind.SETTINGS, PartKind.NAMESPACE):
        in_one_word(old, new)
    if not (existed and exists):
        delta.settings = list(changed_settings(_told(old.settings, spot), _told(new.settings, spot)))
        return delta
    old_objects = {each.id: each for each in both.before}
    delta.replaced = bool(both.before and both.after) and not any(each.id in old_objects for each in both.after)
    for each in both.after:
        if each.id.kind == "HelmRelease" and (old_one := old_objects.get(each.id)):
            take_states(delta, old_one, each)
            delta.has_other_chart = each.manifest["spec"]["chartRef"] != old_one.manifest["spec"]["chartRef"]
    delta.states = _states_of_namespaces(both) or delta.states
    _take_shards(delta, both)
    if spot.part.kind is PartKind.SOURCE and delta.replaced:
        old, new = Words(telling_source(old.settings), old.rest), Words(telling_source(new.settings), new.rest)
    delta.settings = list(changed_settings(old.settings, new.settings))
    if (spot.part.tenant, spot.cluster) not in found.moved and spot.cluster not in found.rehomed:
        delta.fields = list(changed_rest(old.rest, new.rest))
    return delta


def _under_former_names(spot: Spot, found: Gathered) -> Spot:
    tenant, cluster = found.placement_before(spot)
    return Spot(spot.part._replace(tenant=tenant), cluster)


def _take_shards(delta: Delta, both: Both) -> None:
    one = {label(each.manifest, SHARD_LABEL) for each in both.before if each.id.kind in SOURCES}
    other = {label(each.manifest, SHARD_LABEL) for each in both.after if each.id.kind in SOURCES}
    if one and other:
        delta.shards = (min(one), min(other))


def _with_base(old: Words, new: Words, spot: Spot) -> None:
    """An open network has no object, but a word."""
    key: Path = ("network", "base")
    if spot.part.kind in (PartKind.SETTINGS, PartKind.NAMESPACE):
        for one, other in ((old, new), (new, old)):
            if key in one.settings:
                other.settings.setdefault(key, "open")


def _told(settings: dict[Path, Any], spot: Spot) -> dict[Path, Any]:
    if spot.part.kind is PartKind.SOURCE:
        return telling_source(settings)
    hidden: set[Path] = {("interval",), ("timeout",), ("retryInterval",), ("shard",)}
    hidden |= {NAME} if spot.part.kind is PartKind.NAMESPACE else set()
    return {
        path: value for path, value in settings.items() if path not in hidden and (path, value) != (("adopt",), False)
    }


def _is_there(spot: Spot, objects: list[KubeObject], side: Side) -> bool:
    kind, tenant, name = spot.part
    if kind is PartKind.SETTINGS:
        return not tenant or not spot.cluster or (tenant, spot.cluster) in side.placements
    if kind is PartKind.NAMESPACE:
        placement = side.placements.get((tenant, spot.cluster))
        return placement is not None and name in placement.namespaces
    return bool(objects)


def _words(objects: list[KubeObject], manifests: list[Manifest], spot: Spot, side: Side) -> Words:
    tenant = spot.part.tenant
    placement = side.placements.get((tenant, spot.cluster))
    where = Where(tenant, placement.namespace if placement else "", spot.cluster, side.plan.written)
    found = manifest_words(manifests, where)
    if placement and placement.after and spot.part.kind is PartKind.SETTINGS:
        found.settings["dependsOn",] = list(placement.after)
    for each in objects:
        words = _words_of(each, side)
        found.settings.update(words.settings)
        found.rest.update(words.rest)
    return found


def _words_of(object: KubeObject, side: Side) -> Words:
    if object.id.kind in SOURCES:
        words = source_words(object, side.naming)
        if object.owner.tenant:
            return Words(words, {})
        told = {("chart", *path): value for path, value in words.items() if path not in _NOT_OF_THE_FILE}
        return Words(told, {})
    if object.id.kind == "HelmChart":
        return Words(_chart_words(mapping_at(object.manifest, "spec")), {})
    if object.id.kind in NOTIFICATIONS:
        return Words(notification_words(object, side.naming), {})
    if object.id.kind == "HelmRelease":
        placement = side.placements.get((object.owner.tenant, object.owner.cluster))
        return release_words(object, placement.after.values() if placement else ())
    return Words(attached_words(object), {})


def _chart_words(spec: dict[str, Any]) -> dict[Path, Any]:
    """The chart for baselines: a version in a repository of charts, or a directory in Git, whose source says the rest."""
    if spec["sourceRef"]["kind"] == "GitRepository":
        return {("chart", "git", "path"): spec["chart"]}
    return {("chart", "helm", key): spec[key] for key in spec if key not in ("chart", "sourceRef")}


def _states_of_namespaces(both: Both) -> tuple[State, State] | None:
    """The states of a namespace that Pulumi creates, or of an extra one; None if they are the same."""
    old = {each["metadata"]["name"]: state_of(each) for each in both.old if each["kind"] == "Namespace"}
    for each in both.new:
        if each["kind"] == "Namespace" and old.get(each["metadata"]["name"], state_of(each)) != state_of(each):
            return old[each["metadata"]["name"]], state_of(each)
    return None
