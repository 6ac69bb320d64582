"""The source at hand: the repository that a directory lies in.

The bootstrap tells which source that is: its Kustomization applies the very directory that is read. What Flux fetches from the same
address is the same source, whatever its name is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tenantry.importing.documents import Placed
from tenantry.importing.model import Key
from tenantry.importing.programs import NotBuilt
from tenantry.importing.yaml_text import read_all
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at

FLUX = "flux-system"
_MOST_FILES = 50_000
_MOST_BYTES = 2**18
"""The largest file in which the path of a bootstrap is looked for. Flux writes it into a small one."""


class Checkout(NamedTuple):
    """A source at hand. root: its directory, links resolved; relative: whether messages name it from the working directory."""

    root: Path
    relative: bool

    def shows(self, path: Path) -> str:
        """What messages call a path of the source."""
        return os.path.relpath(path) if self.relative else str(path)


def checkout_around(directory: Path) -> Checkout:
    """The source that a directory is part of: up to where the path of a bootstrap in it begins, else the Git repository around it,
    else the directory itself.
    """
    inside = directory.resolve()
    root = next((each for each in (inside, *inside.parents) if (each / ".git").exists()), inside)
    for parts in _paths_in(inside):
        begins = inside.parents[len(parts) - 1] if len(parts) < len(inside.parts) else inside
        if begins.joinpath(*parts) == inside and (root == inside or begins.is_relative_to(root)):
            root = begins
            break
    return Checkout(root, not directory.is_absolute())


def _paths_in(directory: Path) -> Iterator[tuple[str, ...]]:
    """The paths of the Kustomizations in a directory, as parts. One part says little, unless it is the bootstrap's."""
    for file in sorted(islice(directory.rglob("*.y*ml"), _MOST_FILES)):
        try:
            large = file.is_symlink() or file.stat().st_size > _MOST_BYTES
            text = b"" if large else file.read_bytes()
            found = read_all(text, file.name) if b"kind: Kustomization" in text and b"path:" in text else []
        except (OSError, NotBuilt):  # reading says so with its place
            continue
        for each in found:
            parts = parts_of(str(mapping_at(each, "spec").get("path") or "")) if isinstance(each, dict) else ()
            if len(parts) > 1 or (parts and mapping_at(each, "metadata").get("name") == FLUX):
                yield parts


def _has(root: Path, parts: tuple[str, ...]) -> bool:
    return os.path.isdir(root.joinpath(*parts))  # noqa: PTH112 (it knows no names that are too long)


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a path as Flux takes it: a leading slash or dot does not count."""
    return tuple(part for part in PurePosixPath(path).parts if part not in ("/", ".", ".."))


@dataclass(slots=True)
class Checkouts:
    """The sources at hand for one environment.

    inputs: the directories that are read, each with the repository around it.
    """

    inputs: Mapping[Path, Checkout]
    _home: dict[Key, Checkout] = field(default_factory=dict)

    def is_bootstrap(self, kustomization: Manifest) -> bool:
        """Whether a Kustomization applies a directory that is read. Its source is then the repository around that."""
        source = source_of(kustomization)
        parts = parts_of(str(kustomization["spec"].get("path") or ""))
        # The app of a tenant may have a path such as `./staging`.
        if len(parts) < 2 and kustomization["metadata"].get("namespace") != FLUX:
            return False
        for directory, checkout in self.inputs.items():
            inside = directory.relative_to(checkout.root).parts
            if (parts or source.name == FLUX) and inside[: len(parts)] == parts:
                self._home.setdefault(source, checkout)
                return True
        return False

    def of(self, kustomization: Manifest, sources: Mapping[Key, Manifest]) -> Checkout | None:
        """The checkout of a Kustomization's source. Args: sources: those that were read, as `sources_in` gives them."""
        key, parts = source_of(kustomization), parts_of(str(kustomization["spec"].get("path") or ""))
        if found := self._home.get(key):
            return found
        fetched = _fetched(sources.get(key))
        same = (each for other, each in self._home.items() if fetched and _fetched(sources.get(other)) == fetched)
        if (found := next(same, None)) and _has(found.root, parts):
            return found
        # The source of a bootstrap that another directory applies, or that is not in Git.
        if parts and key.namespace == FLUX and (key not in sources or key.name == FLUX):
            return next(self._holding(parts), None)
        return None

    def _holding(self, parts: tuple[str, ...]) -> Iterator[Checkout]:
        """The directories around those that are read which hold a path, up to the root of the repository."""
        for directory, checkout in self.inputs.items():
            for around in (directory, *directory.parents):
                if around.is_relative_to(checkout.root) and _has(around, parts):
                    yield checkout._replace(root=around)


def _fetched(source: Manifest | None) -> dict[str, Any]:
    """The address and the revision of a source; empty if it has no address."""
    spec = mapping_at(source, "spec") if source else {}
    return {"url": spec["url"], "ref": spec.get("ref") or {"branch": "master"}} if spec.get("url") else {}


def source_of(kustomization: Manifest) -> Key:
    """The source that a Kustomization names. Its group is left out."""
    reference = mapping_at(kustomization, "spec", "sourceRef")
    namespace = str(reference.get("namespace") or kustomization["metadata"].get("namespace") or "")
    return Key("", str(reference.get("kind")), namespace, str(reference.get("name")))


def sources_in(objects: Mapping[Key, Placed]) -> dict[Key, Manifest]:
    """The sources among some objects, as `source_of` names them."""
    kinds = ("GitRepository", "OCIRepository", "Bucket")
    return {key._replace(group=""): manifest for key, (manifest, _) in objects.items() if key.kind in kinds}
