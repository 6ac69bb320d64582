"""A plan as YAML: exactly the manifests that `tenantry up` applies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.kube.yaml_text import DocumentWriter, documents
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan

MARKER = "# Rendered by tenantry from tenants.yaml; edit that instead.\n"


def to_yaml(manifests: Iterable[Manifest]) -> str:
    """The manifests as YAML documents, with their order of keys."""
    return documents(map(dict, manifests))


def file_name(id: ObjectId) -> str:
    """<namespace>/<kind>-<name>.yaml; cluster-scoped objects are in _cluster, which is not a valid namespace."""
    return f"{id.namespace or '_cluster'}/{id.kind.lower()}-{id.name}.yaml"


def files(objects: Iterable[KubeObject]) -> Iterator[tuple[str, str]]:
    """The name and the content of a file for each object."""
    writer = DocumentWriter()
    for object in objects:
        yield file_name(object.id), MARKER + writer.document(dict(object.manifest))


def shown(objects: Iterable[KubeObject]) -> list[KubeObject]:
    """All objects except Secrets whose values are in the stack: without values they would overwrite what the stack applied."""
    return [object for object in objects if object.secret is None]


def write_directory(plan: Plan, directory: Path) -> tuple[int, int]:
    """Write the plan's objects to a directory, without Secrets with values. Returns, Raises: as `write_files`."""
    return write_files(dict(files(shown(plan.objects))), directory, _is_rendered)


def write_files(wanted: Mapping[str, str], directory: Path, is_ours: Callable[[Path], bool]) -> tuple[int, int]:
    """Make a directory contain exactly some files; returns how many were written and how many removed.

    Does not touch unchanged files, so that file times show what changed. Args: is_ours: whether a file may be replaced or removed.
    Raises: Refused: the directory contains other files, so nothing was written, or one cannot be written.
    """
    try:
        return _write(wanted, directory, is_ours)
    except OSError as error:
        raise Refused(f"{error.filename}: {error.strerror}", "name another directory") from None


def _write(wanted: Mapping[str, str], directory: Path, is_ours: Callable[[Path], bool]) -> tuple[int, int]:
    present = _present(directory, is_ours)
    written = 0
    for name, content in wanted.items():
        file = directory / name
        if name in present and file.read_text(encoding="utf-8") == content:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, content)
        written += 1
    stale = present - wanted.keys()
    for name in stale:
        (directory / name).unlink()
    _remove_empty(directory)
    return written, len(stale)


def _present(directory: Path, is_ours: Callable[[Path], bool]) -> set[str]:
    """The files that are there. Raises: Refused: the directory contains others."""
    if directory.exists() and not directory.is_dir():
        raise Refused(f"{directory} is not a directory", "name another directory")
    names = set()
    for file in sorted(directory.rglob("*")) if directory.exists() else ():
        if file.is_dir() and not file.is_symlink():
            continue
        if file.is_symlink() or not file.is_file() or not is_ours(file):
            raise Refused(
                f"{file} was not written by tenantry; nothing was written to {directory}",
                "name an empty directory",
            )
        names.add(file.relative_to(directory).as_posix())
    return names


def _is_rendered(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(MARKER)) == MARKER.encode()


def _replace(file: Path, content: str) -> None:
    """Replace the file atomically: an interruption leaves the old or the new content."""
    temporary = file.with_name(f".{os.getpid()}")
    try:
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_empty(directory: Path) -> None:
    for folder in sorted((path for path in directory.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
