"""Which Kustomization applies an object: Flux writes it into labels; in files, the path of the Kustomization tells.

A Kustomization whose objects the file declares itself must not become an add-on: both would apply them.
"""

from __future__ import annotations

from pathlib import PurePath

from tenantry.importing.inference.owners import FLUX
from tenantry.importing.inference.world import Thing, World
from tenantry.importing.readers.live import ORIGIN

_NAME, _NAMESPACE = "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"


def applier_of(world: World, thing: Thing) -> Thing | None:
    """The Kustomization that applies an object, as far as it was read; not that of Flux's own bootstrap."""
    if name := thing.labels.get(_NAME):
        found = world.get("Kustomization", str(thing.labels.get(_NAMESPACE)), str(name))
        return None if found is None or _is_bootstrap(found) else found
    if thing.read.origin == ORIGIN:
        return None
    fits = [each for each in world.of("Kustomization") if each is not thing and _holds(each, thing.read.origin)]
    return max(fits, key=lambda each: len(_path(each)), default=None)


def _holds(kustomization: Thing, origin: str) -> bool:
    """Whether a file lies below the path of a Kustomization that takes the repository of the cluster."""
    path = _path(kustomization)
    if not path or _is_bootstrap(kustomization) or kustomization.at("spec", "sourceRef", "name") != FLUX:
        return False
    return f"/{path}/" in f"/{PurePath(origin.rpartition(':')[0] or origin).as_posix()}/"


def _path(kustomization: Thing) -> str:
    return str(kustomization.spec.get("path") or "").strip("./")


def _is_bootstrap(thing: Thing) -> bool:
    return (thing.namespace, thing.name) == (FLUX, FLUX)
