"""A plan as YAML: the very manifests `pulumi up` applies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tenantry.errors import Refused
from tenantry.kube import KubeObject, Manifest, ObjectId
from tenantry.plan import Plan

_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

MARKER = "# Rendered by tenantry from tenants.yaml; edit that instead.\n"


class _Dumper(_BASE):  # type: ignore[misc]  # the C dumper exists only where libyaml does
    """No anchors: a reader should not have to look a value up elsewhere."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def to_yaml(manifests: Iterable[Manifest]) -> str:
    """YAML documents, keys in the order of the manifests."""
    return yaml.dump_all(map(dict, manifests), Dumper=_Dumper, sort_keys=False, explicit_start=True, width=1_000_000)


def file_name(id: ObjectId) -> str:
    """<namespace>/<kind>-<name>.yaml; cluster-scoped objects lie under _cluster, which is no valid namespace."""
    return f"{id.namespace or '_cluster'}/{id.kind.lower()}-{id.name}.yaml"


def files(objects: Iterable[KubeObject]) -> Iterator[tuple[str, str]]:
    """File names and contents, one object each."""
    for object in objects:
        yield file_name(object.id), MARKER + to_yaml([object.manifest])


def write_directory(plan: Plan, directory: Path) -> tuple[int, int]:
    """Make a directory hold exactly the plan's objects; returns how many files were written and how many removed.

    Files of an earlier rendering that are no longer planned are removed; a directory with other files in it is refused,
    before anything is written. Unchanged files are left alone, so their times tell what changed.
    """
    wanted = dict(files(plan.objects))
    present = _rendered_before(directory)
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


def _rendered_before(directory: Path) -> set[str]:
    """The files a former rendering left; raises Refused where a file is not ours."""
    if directory.exists() and not directory.is_dir():
        raise Refused(f"{directory} is not a directory", "name another with --directory")
    names = set()
    for file in sorted(directory.rglob("*")) if directory.exists() else ():
        if file.is_dir():
            continue
        with file.open("rb") as opened:
            if opened.read(len(MARKER)) != MARKER.encode():
                raise Refused(
                    f"{file} was not rendered by tenantry; nothing was written",
                    "name an empty directory with --directory",
                )
        names.add(file.relative_to(directory).as_posix())
    return names


def _replace(file: Path, content: str) -> None:
    """Write so that an interruption leaves the old content or the new, never half of it."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.write_text(content, encoding="utf-8")
    temporary.replace(file)


def _remove_empty(directory: Path) -> None:
    for folder in sorted((path for path in directory.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
