"""The files and directories that kustomizations name: each is one of its source, or is refused with its place.

This is for the message alone. What kustomize reads in other ways, such as from generators within generators, meets the cage.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tenantry.manifests import documents
from tenantry.manifests.model import NotRendered

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_CONFIGURED = ("generators", "transformers", "validators", "patchesStrategicMerge")
"""The lists whose entries can also be objects, written as text."""
_PATHS = (*("resources", "bases", "components", "crds", "configurations"), *_CONFIGURED)
_MAPPINGS = ("patches", "patchesJson6902", "replacements")
"""The lists whose entries have a `path`."""
_GENERATORS = ("configMapGenerator", "secretGenerator")
_DEEPEST = 100
"""Directories in each other. Looking where a path leads takes the longer, the deeper it is."""


class Reference(NamedTuple):
    """place: `apps/kustomization.yaml: resources[0]`; text: what stands there; target: where that leads, links resolved."""

    place: str
    text: str
    target: Path


def kustomization_in(directory: Path) -> Path | None:
    """The kustomization of a directory. A link is none, because Flux takes none from a source."""
    files = (directory / name for name in NAMES)
    return next((file for file in files if file.is_file() and not file.is_symlink()), None)


def references(root: Path, directory: Path) -> Iterator[Reference]:
    """What the kustomizations name that a build of a directory reads.

    Args:   root: the source, which holds the directory.
    Raises: NotRendered: a kustomization is malformed, or names something outside of the source.
    """
    root = root.resolve()
    open, seen = [directory.resolve()], set()
    while open:
        directory = open.pop()
        file = kustomization_in(directory)
        if file is None or directory in seen:
            continue
        seen.add(directory)
        name = str(file.relative_to(root))
        if name.count("/") > _DEEPEST:
            raise NotRendered(f"{name[:80]}...: more than {_DEEPEST} directories are nested")
        for path, text in _texts(documents.read_file(file), name):
            place = f"{name}: {path}"
            target = _leads_to(directory / text, place)
            if not target.is_relative_to(root):
                raise NotRendered(f"{place}: '{text}' leaves the source")
            yield Reference(place, text, target)
            if os.path.isdir(target):  # noqa: PTH112
                open.append(target)


def check(root: Path, directory: Path) -> None:
    """Raises: NotRendered: as `references`, or a kustomization names what the source does not have."""
    for each in references(root, directory):
        if not os.path.exists(each.target):  # noqa: PTH110
            raise NotRendered(
                f"{each.place}: '{each.text}' is not a file or directory of the source; links and remote bases are not"
                " followed"
            )


def _leads_to(path: Path, place: str) -> Path:
    """Where a path leads, with its links resolved, whether something is there or not.

    Like the other functions of os.path, and unlike those of pathlib, this one knows no names that are too long.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a null byte
        raise NotRendered(f"{place} is not a path") from None


def _texts(content: Any, name: str) -> Iterator[tuple[str, str]]:
    """Where each path stands, and the path."""
    if not isinstance(content, dict):
        return
    for key in _PATHS:
        for place, text in _listed(content, key, name):
            if isinstance(text, str) and not (key in _CONFIGURED and _is_object(text)):
                yield place, text
    for key in _MAPPINGS:
        for place, entry in _listed(content, key, name):
            if isinstance(entry, dict) and isinstance(entry.get("path"), str):
                yield f"{place}.path", entry["path"]
    schema = content.get("openapi")
    if isinstance(schema, dict) and isinstance(schema.get("path"), str):
        yield "openapi.path", schema["path"]
    for key in _GENERATORS:
        for place, entry in _listed(content, key, name):
            yield from _generated(entry, place, name)


def _generated(entry: Any, place: str, name: str) -> Iterator[tuple[str, str]]:
    """`files` can name a key before the path."""
    if not isinstance(entry, dict):
        return
    for key in ("files", "envs"):
        for inner, text in _listed(entry, key, name):
            if isinstance(text, str):
                yield f"{place}.{inner}", text.rsplit("=", 1)[-1] if key == "files" else text
    if isinstance(entry.get("env"), str):
        yield f"{place}.env", entry["env"]


def _listed(content: dict[str, Any], key: str, name: str) -> Iterator[tuple[str, Any]]:
    entries = content.get(key)
    if entries is not None and not isinstance(entries, list):
        raise NotRendered(f"{name}: {key} is not a list")
    yield from ((f"{key}[{number}]", entry) for number, entry in enumerate(entries or ()))


def _is_object(text: str) -> bool:
    return "\n" in text or ": " in text or text.startswith("{")
