"""The directory of built tools, and where each is. All checkouts of a user share it, so a second clone builds nothing.

    <root>/tools/<module>/<fingerprint>/   the binaries and their extras
    <root>/tools/<module>.lock             held while the module is built
    <root>/logs/<module>.log               Go's output of the last build

The fingerprint covers the files of a module and its entry in tools.yaml, but neither the version of Go nor other code here. So
finding a tool is fast, and a change of the builder rebuilds nothing.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tenantry_sandbox.tools.catalog import CONTROLPLANE, KUBERNETES, SOURCES, Module, ToolMissing, module_of

FLAGS = ("-trimpath",)
LINKER_FLAGS = "-s -w"
FIX = "run `tenantry sandbox tools` once: it needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk"
DRAFT = "building-"
"""The prefix of directories with unfinished builds."""
KEPT = 3
"""The number of builds that are kept of a module, so that switching between branches builds nothing."""


@dataclass(frozen=True, slots=True)
class Store:
    """The built tools of one checkout, whose Go modules are in `sources`."""

    root: Path
    sources: Path = SOURCES

    @property
    def tools(self) -> Path:
        return self.root / "tools"

    def lock(self, module: Module) -> Path:
        return self.tools / f"{module.directory}.lock"

    def log(self, module: Module) -> Path:
        return self.root / "logs" / f"{module.directory}.log"

    def directory(self, module: Module) -> Path:
        """The directory for the build of the current sources."""
        return self.tools / module.directory / self.fingerprint(module)

    def built(self, module: Module) -> Path | None:
        """The directory with the build of the current sources; None if it does not exist or is incomplete."""
        directory = self.directory(module)
        return directory if all((directory / tool.name).is_file() for tool in module.tools) else None

    @contextmanager
    def draft(self, module: Module) -> Iterator[Path]:
        """A temporary directory to build the module in. The caller holds the module's lock."""
        home = self.tools / module.directory
        home.mkdir(parents=True, exist_ok=True)
        for leftover in home.glob(f"{DRAFT}*"):  # from a builder that was killed
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=home) as draft:
            yield Path(draft)

    def keep(self, module: Module, result: Path) -> None:
        """Move a finished build to its place and remove the oldest ones. The caller holds the module's lock."""
        directory = self.directory(module)
        shutil.rmtree(directory, ignore_errors=True)
        result.rename(directory)
        others = (each for each in directory.parent.iterdir() if not each.name.startswith(DRAFT))
        builds = sorted(others, key=lambda each: each.stat().st_mtime)
        for build in builds[:-KEPT]:
            shutil.rmtree(build)

    def fingerprint(self, module: Module) -> str:
        """A hash of everything that determines the module's binaries, except Go itself."""
        digest = hashlib.sha256()
        for part in self._parts(module):
            digest.update(f"{len(part)}:".encode() + part)
        return digest.hexdigest()[:16]

    def _parts(self, module: Module) -> Iterator[bytes]:
        yield repr((FLAGS, LINKER_FLAGS, module.extras)).encode()
        if module.trimmed:
            yield repr(module.trimmed).encode()
        for tool in module.tools:
            yield repr((tool.name, tool.package, tool.stamp)).encode()
        own = self.sources / module.directory
        files = sorted((*own.rglob("*.go"), own / "go.mod", own / "go.sum"))
        for requirer in sorted({extra.requirer for extra in module.extras} - {module.directory}):
            files += [self.sources / requirer / "go.mod", self.sources / requirer / "go.sum"]
        for file in files:
            yield file.relative_to(self.sources).as_posix().encode()
            yield file.read_bytes()


def default() -> Store:
    """The user's store: $TENANTRY_CACHE, or `tenantry` in the XDG directory for caches."""
    if own := os.environ.get("TENANTRY_CACHE"):
        return Store(Path(own).absolute())
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Store(Path(caches) / "tenantry")


def path_of(name: str) -> Path:
    """The binary of a tool. Raises: ToolMissing; ToolsError: there is no such tool."""
    directory = default().built(module_of(name))
    if directory is None:
        raise ToolMissing(f"the sandbox's programs are not built yet: there is no '{name}' of this version", FIX)
    return directory / name


def command_of(name: str) -> tuple[str, ...]:
    """The command of a tool or of a program of Kubernetes. Raises: ToolMissing; ToolsError: there is no such tool."""
    return (str(path_of(CONTROLPLANE)), name) if name in KUBERNETES else (str(path_of(name)),)


def crds() -> tuple[Path, ...]:
    """The files of Flux's CustomResourceDefinitions, sorted. Raises: ToolMissing."""
    return tuple(sorted((path_of("source-controller").parent / "crds").iterdir()))


def kustomize() -> str:
    """The path of kustomize, for `tenantry import`; "" if it was not built."""
    try:
        return str(path_of("kustomize"))
    except ToolMissing:
        return ""
