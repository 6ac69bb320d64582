"""Who applies what. Flux's controllers write it into labels; in files, the path of a Kustomization tells.

Nothing may be applied by Flux and planned by Tenantry at once. What a tenant's own app applies stays in the tenant's repository.
What applies a tenant from outside hands it over: it becomes no add-on, because it would set back what Tenantry changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING

from tenantry.importing.readers.live import ORIGIN

if TYPE_CHECKING:
    from tenantry.importing.inference.world import Notes, Thing

_CONTROLLERS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_BOOTSTRAP = "flux-system"


class Appliers:
    """What applies each of some objects, as far as it is among them."""

    def __init__(self, things: Iterable[Thing]) -> None:
        apps = [each for each in things if each.kind in _CONTROLLERS]
        self._by_name = {(each.kind, each.namespace, each.name): each for each in apps}
        self._by_path = [each for each in apps if _takes_the_repository(each)]

    def by_label(self, thing: Thing) -> Thing | None:
        """What applies an object, as its labels tell."""
        return self._by_name.get(_owner(thing))

    def of(self, thing: Thing) -> Thing | None:
        """What applies an object, as its labels or its file tell; not Flux's own bootstrap."""
        if _owner(thing)[0]:
            found = self.by_label(thing)
            return None if found is None or _is_bootstrap(found) else found
        if thing.read.origin == ORIGIN:
            return None
        origin = thing.read.origin
        place = f"/{PurePath(origin.rpartition(':')[0] or origin).as_posix()}/"
        fits = [each for each in self._by_path if each is not thing and f"/{_path(each)}/" in place]
        return max(fits, key=lambda each: len(_path(each)), default=None)


def expressible(things: Iterable[Thing], notes: Notes) -> list[Thing]:
    """The objects that tenants.yaml could express; the others are left over."""
    things = list(things)
    appliers = Appliers(things)
    owners = [(each, owner) for each in things if (owner := appliers.by_label(each)) and owner is not each]
    inner = {id(each): owner for each, owner in owners if _is_own(each, owner)}
    outer = {id(owner) for each, owner in owners if id(each) not in inner}
    kept = []
    for each in things:
        if owner := inner.get(id(each)):
            notes.leave(each.read, *_inner_in_words(each, owner))
        elif id(each) in outer and each.name != _BOOTSTRAP:
            notes.leave(
                each.read, "it applies objects that Tenantry takes over", "suspend it as the steps to adopt say"
            )
        else:
            kept.append(each)
    return kept


def _inner_in_words(thing: Thing, owner: Thing) -> tuple[str, str]:
    if thing.kind == "HelmChart":
        reason = f"helm-controller made it for 'spec.chart' of {owner.key}"
        return reason, "do nothing: helm-controller removes it when the release takes the planned chart"
    return f"{owner.key} applies it", "leave it there: what an app applies needs no entry of its own"


def _owner(thing: Thing) -> tuple[str, str, str]:
    """The kind, the namespace and the name in an object's labels; empty if it has none."""
    for kind, group in _CONTROLLERS.items():
        name, namespace = (thing.labels.get(f"{group}/{key}") for key in ("name", "namespace"))
        if isinstance(name, str) and isinstance(namespace, str):
            return kind, namespace, name
    return "", "", ""


def _is_own(thing: Thing, owner: Thing) -> bool:
    """Whether an app applies the object within its own namespace, as the apps of tenants do."""
    return owner.namespace == thing.namespace != _BOOTSTRAP


def _takes_the_repository(app: Thing) -> bool:
    """Whether it is a Kustomization that applies a directory of the cluster's repository."""
    source = app.at("spec", "sourceRef", "name")
    return app.kind == "Kustomization" and bool(_path(app)) and source == _BOOTSTRAP and not _is_bootstrap(app)


def _path(kustomization: Thing) -> str:
    return str(kustomization.spec.get("path") or "").strip("./")


def _is_bootstrap(thing: Thing) -> bool:
    return (thing.namespace, thing.name) == (_BOOTSTRAP, _BOOTSTRAP)
