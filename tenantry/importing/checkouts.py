"""The sources at hand: the repository that a directory lies in, and copies of others that the command line names.

Flux knows a source by its address, so the address of a Git remote tells it. A fork or a mirror has another: there the bootstrap
tells it, whose Kustomization applies the very directory that is read.
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
from tenantry.importing.remotes import plain, remotes
from tenantry.importing.yaml_text import read_all
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at, mappings_in

FLUX = "flux-system"
ARTIFACT = "ExternalArtifact"
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
            found = read_all(text) if b"kind: Kustomization" in text and b"path:" in text else []
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

    named:  copies by what the command line calls them: KIND/NAMESPACE/NAME, NAMESPACE/NAME, NAME, or an address.
    inputs: the directories that are read, each with the repository around it.
    """

    named: Mapping[str, Checkout]
    inputs: Mapping[Path, Checkout]
    _home: dict[Key, Checkout] = field(default_factory=dict)
    _remotes: dict[tuple[str, str], Checkout] | None = None

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

    def is_of_bootstrap(self, source: Key) -> bool:
        """Whether a source is that of a bootstrap, as a Kustomization or its name tells."""
        return source in self._home or source.namespace == source.name == FLUX

    def of(self, kustomization: Manifest, sources: Mapping[Key, Manifest]) -> Checkout | None:
        """The checkout of a Kustomization's source. Args: sources: those that were read, as `sources_in` gives them."""
        parts = parts_of(str(kustomization["spec"].get("path") or ""))
        return self.of_source(source_of(kustomization), parts, sources)

    def of_source(self, key: Key, parts: tuple[str, ...], sources: Mapping[Key, Manifest]) -> Checkout | None:
        """The checkout of a source of which a Kustomization applies the directory that the parts name. Args: as `of`."""
        source = sources.get(key)
        spec = mapping_at(source, "spec") if source else {}
        url = str(spec.get("url") or "")
        for name in (f"{key.kind}/{key.namespace}/{key.name}", f"{key.namespace}/{key.name}", key.name, url):
            if found := self.named.get(name):
                return found
        if found := self._home.get(key):
            return found
        if source and key.kind == ARTIFACT:
            return self._of_artifact(key, source, sources)
        if (found := self._by_remote(url, spec)) and _has(found.root, parts):
            return found
        # The source of a bootstrap that another directory applies, or that is not in Git.
        if key.namespace == FLUX and (source is None or key.name == FLUX):
            return next(self._holding(parts), None) if parts else None
        return None

    def _holding(self, parts: tuple[str, ...]) -> Iterator[Checkout]:
        """The directories around those that are read which hold a path, up to the root of the repository."""
        for directory, checkout in self.inputs.items():
            for around in (directory, *directory.parents):
                if around.is_relative_to(checkout.root) and _has(around, parts):
                    yield checkout._replace(root=around)

    def _of_artifact(self, key: Key, generator: Manifest, sources: Mapping[Key, Manifest]) -> Checkout | None:
        """The directory of a source that an ArtifactGenerator copies, or copies parts of, as it is; None: it does more."""
        copied = copied_by(generator, key.name)
        whole = self.of_source(*copied, sources) if copied else None
        return whole._replace(root=whole.root.joinpath(*copied[1])) if copied and whole else None

    def _by_remote(self, url: str, spec: Mapping[str, Any]) -> Checkout | None:
        """The repository with this remote, if it has the branch that Flux takes checked out."""
        if self._remotes is None:
            roots = dict.fromkeys(self.inputs.values())
            self._remotes = {(address, branch): each for each in roots for address, branch in remotes(each.root)}
        return self._remotes.get((plain(url), str(mapping_at(spec, "ref").get("branch") or "master"))) if url else None


def copied_by(generator: Manifest, artifact: str) -> tuple[Key, tuple[str, ...]] | None:
    """The source and the directory in it that an artifact of an ArtifactGenerator is, or is parts of; None: it is more."""
    spec = mapping_at(generator, "spec")
    wanted = next((each for each in mappings_in(spec.get("artifacts")) if each.get("name") == artifact), {})
    homes = {_home_of(copy) for copy in mappings_in(wanted.get("copy"))}
    if len(homes) != 1 or homes == {()}:
        return None
    alias, *parts = homes.pop()
    reference = next((each for each in mappings_in(spec.get("sources")) if str(each.get("alias")) == alias), {})
    namespace = str(reference.get("namespace") or generator["metadata"].get("namespace"))
    return Key("", str(reference.get("kind")), namespace, str(reference.get("name"))), tuple(parts)


def source_of(kustomization: Manifest) -> Key:
    """The source that a Kustomization names. Its group is left out."""
    reference = mapping_at(kustomization, "spec", "sourceRef")
    namespace = str(reference.get("namespace") or kustomization["metadata"].get("namespace") or "")
    return Key("", str(reference.get("kind")), namespace, str(reference.get("name")))


def sources_in(objects: Mapping[Key, Placed]) -> dict[Key, Manifest]:
    """The sources among some objects, as `source_of` names them; for an artifact, what generates it."""
    found: dict[Key, Manifest] = {}
    for key, (manifest, _) in objects.items():
        if key.kind in ("GitRepository", "OCIRepository", "Bucket"):
            found[key._replace(group="")] = manifest
        elif key.kind == "ArtifactGenerator":
            for each in mappings_in(mapping_at(manifest, "spec").get("artifacts")):
                found[Key("", ARTIFACT, key.namespace, str(each.get("name")))] = manifest
    return found


def _home_of(copy: Mapping[str, Any]) -> tuple[str, ...]:
    """The alias of a source and the directory in it that a copy makes the root of the artifact; () if there is none such."""
    before, after = str(copy.get("from")), str(copy.get("to"))
    if not (before.startswith("@") and before.endswith("/**") and after.startswith("@artifact/")):
        return ()
    there, here = parts_of(before[1:-3]), parts_of(after.removeprefix("@artifact/"))
    if there[len(there) - len(here) :] != here:
        return ()
    return there[: len(there) - len(here)]
