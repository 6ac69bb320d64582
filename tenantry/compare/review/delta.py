"""How a part on a cluster differs: settings, fields, states; and what of it is told of the cluster or the tenant as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenantry.compare.diff import Changed
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.app_words import app_words, image_words, telling
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.model import PartKind, Setting
from tenantry.compare.review.naming import annotation, label
from tenantry.compare.review.parts import NOTIFICATIONS, Side, Spot
from tenantry.compare.review.source_words import KINDS as SOURCES
from tenantry.compare.review.source_words import (
    attached_words,
    notification_words,
    source_words,
    telling_source,
)
from tenantry.compare.review.states import ACTIVE, State, state_of
from tenantry.compare.review.tenant_words import (
    Where,
    manifest_words,
    release_words,
)
from tenantry.compare.review.words import Path, Words, changed_rest, changed_settings, key_of, nothing
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.plan.engine_order import WAIT
from tenantry.plan.objects.scope import SHARD_LABEL

_APPS = (PartKind.APP, PartKind.ADDON)
_NAME: Path = ("namespace",)


@dataclass(slots=True)
class Delta:
    """existed, exists: whether the part is there before and after.

    settings: of one side if the part is there on one alone. states, kubeconfigs, shards, accounts: before and after.
    replaced: whether the part has other objects than before. has_other_chart: whether the chart of baselines is another one.
    """

    existed: bool
    exists: bool
    settings: list[Setting] = field(default_factory=list)
    fields: list[FieldChange] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    states: tuple[State, State] = (ACTIVE, ACTIVE)
    kubeconfigs: tuple[Any, Any] = (ABSENT, ABSENT)
    shards: tuple[str, str] = ("", "")
    accounts: tuple[str, str] = ("", "")
    replaced: bool = False
    has_other_chart: bool = False

    @property
    def says_nothing(self) -> bool:
        return not (self.settings or self.fields or self.sentences)


def delta_of(spot: Spot, both: Both, found: Gathered) -> Delta:
    """The difference of a part on a cluster."""
    if spot.part.kind in _APPS:
        return _of_app(spot, both, found)
    return _of_objects(spot, both, found)


# --- apps and add-ons -------------------------------------------------------------------------------------------------


def _of_app(spot: Spot, both: Both, found: Gathered) -> Delta:
    one, other = found.app_before(spot), found.app_after(spot)
    old = app_words(one, found.before.uses, found.before.naming) if one else nothing()
    new = app_words(other, found.after.uses, found.after.naming) if other else nothing()
    before = found.before.uses.objects[one.id] if one else None
    after = found.after.uses.objects[other.id] if other else None
    old.settings.update(_beside(both.before, both.old, spot, found.before))
    new.settings.update(_beside(both.after, both.new, spot, found.after))
    delta = Delta(existed=one is not None, exists=other is not None)
    if before is None or after is None:
        delta.settings = list(changed_settings(telling(old.settings), telling(new.settings)))
        return delta
    delta.replaced = before.id != after.id
    _take_states(delta, before, after)
    _without_orphan(delta.states, old, new)
    if not delta.replaced:
        # They can be long, and the difference has compared them already.
        values = list(_values(found.changed.get(after.id)))
        for side in (old, new):
            side.settings.pop(("helm", "values"), None)
        delta.settings = [*changed_settings(old.settings, new.settings), *values]
    elif before.id.kind == after.id.kind:
        delta.settings = list(changed_settings(old.settings, new.settings))
    else:
        delta.settings = list(changed_settings(telling(old.settings), telling(new.settings)))
    if not delta.replaced:
        delta.fields = list(changed_rest(old.rest, new.rest))
    delta.sentences = list(_waits(before, after))
    return delta


def _values(changed: Changed | None) -> Iterator[Setting]:
    for each in changed.fields if changed else ():
        if each.path[:2] == ("spec", "values"):
            yield Setting(key_of(("helm", *each.path[1:])), each.before, each.after)


def _without_orphan(states: tuple[State, State], *sides: Words) -> None:
    """The plan orphans what is on clusters that are given up."""
    if any(state.leaving == "decommissioned" for state in states):
        for side in sides:
            side.settings.pop(("kustomize", "deletionPolicy"), None)


def _take_states(delta: Delta, before: KubeObject, after: KubeObject) -> None:
    delta.states = (state_of(before.manifest), state_of(after.manifest))
    delta.kubeconfigs = (kubeconfig_of(before), kubeconfig_of(after))
    delta.shards = (label(before.manifest, SHARD_LABEL), label(after.manifest, SHARD_LABEL))
    one, other = (mapping_at(each.manifest, "spec").get("serviceAccountName", "") for each in (before, after))
    delta.accounts = (one, other)


def kubeconfig_of(object: KubeObject) -> str:
    """How Flux reaches the cluster of an object, such as `Secret kamaji/edge-admin-kubeconfig, key admin.conf`; or ""."""
    reference = mapping_at(object.manifest, "spec", "kubeConfig")
    for field_, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
        if named := reference.get(field_):
            key = f", key {named['key']}" if "key" in named else ""
            return f"{kind} {object.id.namespace}/{named['name']}{key}"
    return ""


def _waits(before: KubeObject, after: KubeObject) -> Iterator[str]:
    (key,) = WAIT
    one, other = annotation(before.manifest, key), annotation(after.manifest, key)
    if other and not one:
        yield "`pulumi up` waits until it is ready, before it goes on to those that depend on it"
    elif one and not other:
        yield "`pulumi up` no longer waits until it is ready"


def _beside(objects: list[KubeObject], manifests: list[Manifest], spot: Spot, side: Side) -> dict[Path, Any]:
    """The settings of what is there beside the object of the app: images, and for add-ons sources and namespaces."""
    images = [each for each in objects if each.id.kind.startswith("Image")]
    found = image_words(images, spot.part.name, side.naming)
    if spot.part.tenant:
        return found
    for each in objects:
        if each.id.kind in SOURCES:
            found |= {("source", *path): value for path, value in source_words(each, side.naming).items()}
    for manifest in manifests:
        metadata = manifest["metadata"]
        name = metadata["name"] if manifest["kind"] == "Namespace" else metadata.get("namespace", "")
        words = manifest_words([manifest], Where("", "")).settings
        found |= {("namespaces", name, *(() if path == _NAME else path)): value for path, value in words.items()}
    return found


# --- everything else --------------------------------------------------------------------------------------------------


def _of_objects(spot: Spot, both: Both, found: Gathered) -> Delta:
    old = _words(both.before, both.old, spot, found.before)
    new = _words(both.after, both.new, spot, found.after)
    existed, exists = _is_there(spot, both.before, found.before), _is_there(spot, both.after, found.after)
    delta = Delta(existed=existed, exists=exists)
    if not (existed and exists):
        delta.settings = list(changed_settings(_told(old.settings, spot), _told(new.settings, spot)))
        return delta
    old_objects = {each.id: each for each in both.before}
    delta.replaced = bool(both.before and both.after) and not any(each.id in old_objects for each in both.after)
    for each in both.after:
        if each.id.kind == "HelmRelease" and (old_one := old_objects.get(each.id)):
            _take_states(delta, old_one, each)
            delta.has_other_chart = each.manifest["spec"]["chartRef"] != old_one.manifest["spec"]["chartRef"]
    delta.states = _states_of_namespaces(both) or delta.states
    _take_shards(delta, both)
    _with_base(old, new, spot)
    if spot.part.kind is PartKind.SOURCE and delta.replaced:
        old, new = Words(telling_source(old.settings), old.rest), Words(telling_source(new.settings), new.rest)
    delta.settings = list(changed_settings(old.settings, new.settings))
    if not (found.diff.moved or found.diff.rehomed):
        delta.fields = list(changed_rest(old.rest, new.rest))
    return delta


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
    hidden |= {_NAME} if spot.part.kind is PartKind.NAMESPACE else set()
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
    where = Where(tenant, side.naming.namespaces.get((tenant, spot.cluster), ""))
    found = manifest_words(manifests, where)
    for each in objects:
        words = _words_of(each, side)
        found.settings.update(words.settings)
        found.rest.update(words.rest)
    return found


def _words_of(object: KubeObject, side: Side) -> Words:
    if object.id.kind in SOURCES:
        prefix: Path = () if object.owner.tenant else ("chart",)
        words = source_words(object, side.naming)
        return Words({(*prefix, *path): value for path, value in words.items()}, {})
    if object.id.kind == "HelmChart":
        spec = mapping_at(object.manifest, "spec")
        return Words({("chart", "helm", key): spec[key] for key in spec if key not in ("chart", "sourceRef")}, {})
    if object.id.kind in NOTIFICATIONS:
        return Words(notification_words(object, side.naming), {})
    if object.id.kind == "HelmRelease":
        return release_words(object)
    return Words(attached_words(object), {})


def _states_of_namespaces(both: Both) -> tuple[State, State] | None:
    """The states of a namespace that Pulumi creates, or of an extra one."""
    old = {each["metadata"]["name"]: each for each in both.old if each["kind"] == "Namespace"}
    for each in both.new:
        if each["kind"] == "Namespace" and each["metadata"]["name"] in old:
            return state_of(old[each["metadata"]["name"]]), state_of(each)
    return None
