"""The objects in the files of a directory, and in what kustomize builds of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tenantry.importing.readers.documents import MOST_BYTES, Placed, objects_in
from tenantry.messages.errors import Refused

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
MOST_FILES = 50_000

Build = Callable[[Path], bytes]
"""Builds a directory with kustomize. Raises: Refused."""


def objects_below(directory: Path, root: Path, build: Build) -> Iterator[Placed]:
    """The objects in all YAML files below a directory. A directory with a kustomization stands for what that builds.

    Args:   root: the source that the directory is part of.
    Raises: Refused: a file cannot be read or is a link out of the source, or kustomize cannot build a directory.
    """
    for count, path in enumerate(_sources(directory)):
        if count >= MOST_FILES:
            raise Refused(f"{directory}: there are more than {MOST_FILES} files", "name a directory below it")
        if path.is_dir():
            built = build(path)
            # The lines of what kustomize prints say nothing to the author of its input.
            yield from (each._replace(origin=str(path)) for each in objects_in(built, f"kustomize build {path}"))
        elif not path.resolve().is_relative_to(root):
            raise Refused(f"{path}: the link leaves the source", "remove the link, or name another source")
        else:
            yield from objects_in(_content(path), str(path))


def _sources(directory: Path) -> Iterator[Path]:
    """Files to read and directories to build. Links are followed to files alone, so that no circle is walked."""
    try:
        if any((directory / each).is_file() for each in KUSTOMIZATIONS):
            yield directory
            return
        for path in sorted(directory.iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                yield from _sources(path)
            elif path.suffix in (".yaml", ".yml") and path.is_file():
                yield path
    except OSError as error:
        raise Refused(f"{error.filename}: {error.strerror}", "name a readable directory") from None


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}", "name a readable directory") from None
