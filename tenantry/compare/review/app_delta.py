"""How an app or an add-on on a cluster differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.compare.diff import Changed
from tenantry.compare.review.app_words import app_words, image_words, telling
from tenantry.compare.review.delta import NAME, Delta, take_states
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.model import Setting
from tenantry.compare.review.naming import annotation, label
from tenantry.compare.review.parts import Side, Spot
from tenantry.compare.review.source_words import KINDS as SOURCES
from tenantry.compare.review.source_words import source_words
from tenantry.compare.review.states import State
from tenantry.compare.review.tenant_words import Where, adopts, manifest_words
from tenantry.compare.review.words import Path, Words, changed_rest, changed_settings, key_of, nothing
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.plan.engine_order import WAIT
from tenantry.plan.objects.scope import APP_LABEL


def app_delta(spot: Spot, both: Both, found: Gathered) -> Delta:
    """The difference of an app, with its chart and images, and of an add-on with its source and namespaces, too."""
    one, other = found.app_before(spot), found.app_after(spot)
    old = app_words(one, found.before.uses, found.before.naming) if one else nothing()
    new = app_words(other, found.after.uses, found.after.naming) if other else nothing()
    before = found.before.uses.objects[one.id] if one else None
    after = found.after.uses.objects[other.id] if other else None
    was = Spot(spot.part, found.placement_before(spot)[1])
    old.settings.update(_beside(both.before, both.old, was, found.before))
    new.settings.update(_beside(both.after, both.new, spot, found.after))
    delta = Delta(existed=one is not None, exists=other is not None)
    if before is None or after is None:
        delta.settings = list(changed_settings(telling(old.settings), telling(new.settings)))
        return delta
    delta.replaced = before.id != after.id
    take_states(delta, before, after)
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


def _waits(before: KubeObject, after: KubeObject) -> Iterator[str]:
    (key,) = WAIT
    one, other = annotation(before.manifest, key), annotation(after.manifest, key)
    if other and not one:
        yield "`tenantry up` waits until it is ready, before it goes on to those that depend on it"
    elif one and not other:
        yield "`tenantry up` no longer waits until it is ready"


def _beside(objects: list[KubeObject], manifests: list[Manifest], spot: Spot, side: Side) -> dict[Path, Any]:
    """The settings of what is there beside the object of the app: images, and for add-ons sources and namespaces."""
    images = [each for each in objects if each.id.kind.startswith("Image")]
    found = image_words(images, spot.part.name, side.naming)
    if spot.part.tenant:
        return found
    for each in objects:
        if each.id.kind == "HelmRelease" and not label(each.manifest, APP_LABEL):  # of its namespaces
            found["adopt",] = adopts(each)
        if each.id.kind in SOURCES:
            found |= {("source", *path): value for path, value in source_words(each, side.naming).items()}
    for manifest in manifests:
        metadata = manifest["metadata"]
        name = metadata["name"] if manifest["kind"] == "Namespace" else metadata.get("namespace", "")
        words = manifest_words([manifest], Where("", "", spot.cluster, side.plan.written)).settings
        found |= {("namespaces", name, *(() if path == NAME else path)): value for path, value in words.items()}
    return found
