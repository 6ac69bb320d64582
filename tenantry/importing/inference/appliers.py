"""Which Kustomization applies an object: Flux writes it into labels; in files, the path of the Kustomization tells.

A Kustomization whose objects the file declares itself must not become an add-on: both would apply them.
"""

from __future__ import annotations

from pathlib import PurePath

from tenantry.importing.inference.owners import FLUX
from tenantry.importing.inference.world import Thing, World
from tenantry.importing.readers.live import ORIGIN

_NAME, _NAMESPACE = "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"


class Appliers:
    """What applies the objects of one environment, as far as it was read; not Flux's own bootstrap."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_path = [each for each in world.of("Kustomization") if _takes_the_repository(each)]

    def of(self, thing: Thing) -> Thing | None:
        """The Kustomization that applies an object."""
        if name := thing.labels.get(_NAME):
            found = self._world.get("Kustomization", str(thing.labels.get(_NAMESPACE)), str(name))
            return None if found is None or _is_bootstrap(found) else found
        if thing.read.origin == ORIGIN:
            return None
        origin = thing.read.origin
        place = f"/{PurePath(origin.rpartition(':')[0] or origin).as_posix()}/"
        fits = [each for each in self._by_path if each is not thing and f"/{_path(each)}/" in place]
        return max(fits, key=lambda each: len(_path(each)), default=None)


def _takes_the_repository(kustomization: Thing) -> bool:
    """Whether it applies a directory of the repository of the cluster."""
    source = kustomization.at("spec", "sourceRef", "name")
    return bool(_path(kustomization)) and source == FLUX and not _is_bootstrap(kustomization)


def _path(kustomization: Thing) -> str:
    return str(kustomization.spec.get("path") or "").strip("./")


def _is_bootstrap(thing: Thing) -> bool:
    return (thing.namespace, thing.name) == (FLUX, FLUX)
