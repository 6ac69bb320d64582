"""Builds the path of a Kustomization as kustomize-controller does. Source: fluxcd/pkg/kustomize, kustomize_generator.go."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tenantry.manifests import artifact, documents
from tenantry.manifests.cage import Cage
from tenantry.manifests.model import NotRendered
from tenantry.manifests.references import NAMES, check, kustomization_in, references

_EMPTY = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


def build(root: Path, spec: Mapping[str, Any], kustomize: tuple[str, ...], cage: Cage) -> bytes:
    """What kustomize builds from a path of a source. Raises: NotRendered; NotFetched."""
    path = str(spec.get("path") or ".")
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        copy = Path(temporary, "source")
        copy.mkdir()
        artifact.linked(root, copy)
        directory = _inside(copy, path)
        if not directory.is_dir():
            raise NotRendered(f"the source has no directory '{path}'")
        _write(directory, _completed(directory, spec))
        return built(copy, directory, kustomize, cage)


def build_part(root: Path, directory: Path, kustomize: tuple[str, ...], cage: Cage) -> bytes:
    """What kustomize builds from a directory of a large source, of which only what is named is copied.

    Raises: NotRendered; NotFetched.
    """
    root, directory = root.resolve(), directory.resolve()
    named = [each.target for each in references(root, directory)]
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        copy = Path(temporary, "source")
        copy.mkdir()
        artifact.copied(root, (directory, *named), copy)
        return built(copy, copy / directory.relative_to(root), kustomize, cage)


def built(root: Path, directory: Path, kustomize: tuple[str, ...], cage: Cage) -> bytes:
    """What kustomize builds from a directory of a source, in a cage that holds the source.

    Flux lets kustomize read all files of a source, so it may here. Raises: NotRendered; NotFetched.
    """
    check(root, directory)
    options = ("--load-restrictor=LoadRestrictionsNone", "--", f"./{directory.relative_to(root)}")
    try:
        return cage.run([*kustomize, *options], root, {})
    except NotRendered as failed:
        message = str(failed).replace(f"{root.resolve()}/", "").replace(str(root.resolve()), ".")
        raise NotRendered(f"kustomize: {message}") from None


def _inside(root: Path, path: str) -> Path:
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", ".")]
    if ".." in parts:
        raise NotRendered(f"path '{path}' leaves the source")
    return root.joinpath(*parts)


def _completed(directory: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The kustomization of a directory, with what the spec adds."""
    made = _found(directory) or _generated(directory)
    for key, own in (("targetNamespace", "namespace"), ("namePrefix", "namePrefix"), ("nameSuffix", "nameSuffix")):
        if spec.get(key):
            made[own] = spec[key]
    for key in ("patches", "components", "images"):
        if not isinstance(made.get(key) or [], list):
            raise NotRendered(f"the kustomization of the path: {key} is not a list")
    made["patches"] = [*(made.get("patches") or ()), *spec.get("patches", ())]
    missing_ok = spec.get("ignoreMissingComponents", False)
    components = [each for each in spec.get("components", ()) if not missing_ok or (directory / each).exists()]
    made["components"] = [*(made.get("components") or ()), *components]
    made["images"] = _with_images(made.get("images") or [], spec.get("images", ()))
    if spec.get("buildMetadata"):
        made["buildMetadata"] = spec["buildMetadata"]
    return {key: value for key, value in made.items() if value not in ([], None)}


def _found(directory: Path) -> dict[str, Any] | None:
    file = kustomization_in(directory)
    if file is None:
        return None
    found = documents.read_file(file) or {}
    if not isinstance(found, dict):
        raise NotRendered(f"{file.name} is not a mapping")
    if not found.get("resources"):
        found["buildMetadata"] = ["originAnnotations"]  # otherwise kustomize refuses an empty file
    return found


def _generated(directory: Path) -> dict[str, Any]:
    resources = [f"./{each.relative_to(directory)}" for each in _manifests(directory)]
    return {**_EMPTY, **({"resources": resources} if resources else {"namespace": "_placeholder"})}


def _manifests(directory: Path) -> Iterator[Path]:
    """All YAML files below a directory; a directory with a kustomization stands for what is in it."""
    for path in sorted(directory.iterdir()):
        if path.is_dir():
            if kustomization_in(path):
                yield path
            else:
                yield from _manifests(path)
        elif path.suffix in (".yaml", ".yml"):
            yield path


def _with_images(there: list[Any], added: Any) -> list[Any]:
    """Images by name: the spec's fields replace those of the file; a tag and a digest replace each other."""
    images = {each["name"]: dict(each) for each in there if isinstance(each, dict) and "name" in each}
    for image in added:
        entry = images.setdefault(image["name"], {"name": image["name"]})
        if "newTag" in image or "digest" in image:
            entry.pop("newTag", None)
            entry.pop("digest", None)
        entry.update(image)
    return list(images.values())


def _write(directory: Path, kustomization: dict[str, Any]) -> None:
    file = kustomization_in(directory) or directory / NAMES[0]
    file.unlink(missing_ok=True)  # it is a hard link into the cache
    file.write_text(documents.write(kustomization))
