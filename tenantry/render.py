"""A plan as YAML: the very manifests `pulumi up` applies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

MARKER = "# Rendered by tenantry from tenants.yaml; edit that instead.\n"


class _Dumper(_BASE):  # type: ignore[misc]  # the C dumper exists only where libyaml does
    """No anchors: a reader should not have to look a value up elsewhere."""

    def ignore_aliases(self, _: Any) -> bool:
        return True


# Strings that PyYAML would leave bare although other readers of YAML take them for a number or a truth value.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), None
)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?0o[0-7]+$"), None)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^[yYnN]$"), None)


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


def shown(objects: Iterable[KubeObject]) -> list[KubeObject]:
    """Objects but for Secrets whose values only a stack knows: without them they would undo what the stack applied."""
    return [object for object in objects if object.secret is None]


def write_directory(plan: Plan, directory: Path) -> tuple[int, int]:
    """Make a directory hold exactly the plan's objects; returns how many files were written and how many removed.

    Files of an earlier rendering that are no longer planned are removed; a directory with other files in it is refused,
    before anything is written to it. Unchanged files are left alone, so their times tell what changed. Secrets with values
    are left out.
    """
    try:
        return _write(dict(files(shown(plan.objects))), directory)
    except OSError as error:
        raise Refused(f"{error.filename}: {error.strerror}", "name another directory with --directory") from None


def _write(wanted: dict[str, str], directory: Path) -> tuple[int, int]:
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


def rendered(directory: Path) -> Iterator[Manifest]:
    """The objects that a former rendering, or a stack whose target is the directory, left there; what is none is passed over."""
    for file in sorted(directory.rglob("*.y*ml")) if directory.is_dir() else ():
        try:
            documents = list(yaml.load_all(file.read_bytes(), Loader=_LOADER))
        except (OSError, yaml.YAMLError) as error:
            raise Refused(
                f"{file} cannot be read, so what a run would remove is not known", "remove it, or repair it"
            ) from error
        yield from (each for each in documents if isinstance(each, dict) and isinstance(each.get("metadata"), dict))


def _rendered_before(directory: Path) -> set[str]:
    """The files a former rendering left; raises Refused where a file is not ours."""
    if directory.exists() and not directory.is_dir():
        raise Refused(f"{directory} is not a directory", "name another with --directory")
    names = set()
    for file in sorted(directory.rglob("*")) if directory.exists() else ():
        if file.is_dir() and not file.is_symlink():
            continue
        if file.is_symlink() or not file.is_file() or not _is_ours(file):
            raise Refused(
                f"{file} was not rendered by tenantry; nothing was written to {directory}",
                "name an empty directory with --directory",
            )
        names.add(file.relative_to(directory).as_posix())
    return names


def _is_ours(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(MARKER)) == MARKER.encode()


def _replace(file: Path, content: str) -> None:
    """Write so that an interruption leaves the old content or the new, never half of it."""
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
