"""What the wheel and the sdist contain: every file of the packages, and nothing at the top of site-packages but `tenantry`."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.dist.environment import ROOT, Wrong, run


def check(wheel: Path, other: Path, sdist: Path) -> None:
    """other: the wheel that was built without the sdist. Raises: Wrong: what lacks or is too much."""
    found = "\n".join((*_of_wheel(wheel), *_of_sdist(sdist), *_differences(wheel, other)))
    if found:
        raise Wrong(found)


def check_sandbox(wheel: Path) -> None:
    """Raises: Wrong: the wheel of the sandbox lacks a file, or has one that is not the package's."""
    names = {name for name in _content(wheel) if ".dist-info/" not in name}
    wanted = {name.removeprefix("sandbox/") for name in _tracked("sandbox/tenantry_sandbox")}
    if names != wanted:
        raise Wrong(f"the wheel of the sandbox differs from the package in {sorted(names ^ wanted)}")


def _tracked(*directories: str) -> set[str]:
    return set(run(["git", "ls-files", *directories], ROOT).splitlines())


def _of_wheel(wheel: Path) -> Iterator[str]:
    names = set(_content(wheel))
    top = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    if top != {"tenantry"}:
        yield f"the wheel puts {sorted(top)} into site-packages"
    moved = {"components/": "tenantry/components/", "templates/pulumi/": "tenantry/template/"}
    moved |= {name: f"tenantry/{name}" for name in ("tenants.schema.json", "tenants-included.schema.json")}
    renamed = (name.replace(old, new, 1) for old, new in moved.items() for name in _tracked(old))
    wanted = {*_tracked("tenantry"), *renamed}
    yield from (f"the wheel lacks {name}" for name in sorted(wanted - names))
    yield from (f"the wheel has {name}" for name in sorted(names) if "__pycache__" in name or "/tests/" in name)


def _of_sdist(sdist: Path) -> Iterator[str]:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    yield from (f"the sdist lacks {name}" for name in sorted(_tracked("tenantry", "components", "tests") - names))


def _differences(one: Path, other: Path) -> Iterator[str]:
    first, second = _content(one), _content(other)
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) != second.get(name) and not name.endswith("/RECORD"):
            yield f"{name} differs between the wheel of the sdist and the wheel of the repository"


def _content(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {each.filename: each.CRC for each in archive.infolist()}
