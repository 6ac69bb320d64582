"""Whether Go has to start from nothing, and whether there is room for that."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools import files
from tools.catalog import MODULES, Module, cold_seconds
from tools.errors import Unprepared
from tools.golang import Go
from tools.progress import gigabytes

GB = 1_000_000_000
MODULE_CACHE = 7 * GB
"""What a cold build of everything downloads and unpacks (measured: 6.2 GB)."""

BUILD_CACHE = 13 * GB
"""What Go keeps of a cold build of everything (measured: 12.6 GB)."""

WARM = GB
"""A smaller build cache than this holds nothing of use."""


def expected(go: Go, modules: Sequence[Module], sources: Path) -> bool:
    """A sound guess: a dependency that was never downloaded was never compiled either."""
    downloaded = all(_downloaded(go, module, sources) for module in modules)
    return not downloaded or not files.exceeds(go.build_cache, WARM)


def announcement(go: Go, modules: Sequence[Module]) -> str:
    minutes = max(round(cold_seconds(modules) / 60), 2)
    return (
        f"Go has nothing cached of this yet: expect about {minutes} minutes on two cores,\n"
        f"about {gigabytes(_share(MODULE_CACHE, modules))} of modules in {go.module_cache}\n"
        f"and {gigabytes(_share(BUILD_CACHE, modules))} of build cache in {go.build_cache}"
    )


def require_room(go: Go, modules: Sequence[Module]) -> None:
    """Raises: Unprepared."""
    needed = _share(MODULE_CACHE + BUILD_CACHE, modules)
    for cache in (go.module_cache, go.build_cache):
        free = shutil.disk_usage(_existing(cache)).free
        if free < needed:
            raise Unprepared(
                f"a cold build needs {gigabytes(needed)} of disk, found {gigabytes(free)} free at {cache}",
                "free some, or point GOCACHE and GOMODCACHE at a larger disk",
            )


def requirements(module: Module, sources: Path) -> tuple[str, ...]:
    """What a module itself requires, as Go names the directories of it: path@version."""
    text = (sources / module.directory / "go.mod").read_text()
    # Lines that end in a comment are requirements of requirements.
    direct = re.findall(r"^(?:require |\t)([\w./-]+) (v\S+)$", text, re.MULTILINE)
    return tuple(f"{path}@{version}" for path, version in direct)


def _downloaded(go: Go, module: Module, sources: Path) -> bool:
    return all((go.module_cache / each).is_dir() for each in requirements(module, sources))


def _share(size: int, modules: Sequence[Module]) -> int:
    """What is compiled longer takes more room, near enough."""
    return size * cold_seconds(modules) // cold_seconds(MODULES)


def _existing(directory: Path) -> Path:
    """The directory, or the nearest one above it that is there already."""
    return next(each for each in (directory, *directory.parents) if each.exists())
