"""Where built tools are kept: a directory per user, shared by all checkouts, so that a second clone builds nothing.

    <root>/tools/<module>/<fingerprint>-<go version>/   the binaries and their extras
    <root>/tools/<module>/<fingerprint>                 link to the last good build of these sources
    <root>/tools/<module>.lock                          held by whoever builds the module
    <root>/logs/<module>.log                            Go's output of the last build

The link is what makes finding a tool cheap: the fingerprint needs the module's files only, and neither Go nor its version.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.catalog import Module

FLAGS = ("-trimpath",)
LINKER_FLAGS = "-s -w"
SOURCES = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Store:
    """The built tools of one checkout, whose Go modules lie in `sources`."""

    root: Path
    sources: Path = SOURCES

    @property
    def tools(self) -> Path:
        return self.root / "tools"

    def home(self, module: Module) -> Path:
        return self.tools / module.directory

    def lock(self, module: Module) -> Path:
        return self.tools / f"{module.directory}.lock"

    def log(self, module: Module) -> Path:
        return self.root / "logs" / f"{module.directory}.log"

    def link(self, module: Module) -> Path:
        return self.home(module) / self.fingerprint(module)

    def directory(self, module: Module, go_version: str) -> Path:
        """Where a build of the sources as they are now by that Go belongs."""
        return self.home(module) / f"{self.fingerprint(module)}-{go_version}"

    def built(self, module: Module) -> Path | None:
        """The directory of the last good build of the sources as they are now."""
        directory = self.link(module).resolve()
        complete = all((directory / tool.name).is_file() for tool in module.tools)
        return directory if complete else None

    def fingerprint(self, module: Module) -> str:
        """Changes with whatever decides about the module's binaries, apart from Go itself."""
        digest = hashlib.sha256()
        for part in self._parts(module):
            digest.update(f"{len(part)}:".encode() + part)
        return digest.hexdigest()[:16]

    def _parts(self, module: Module) -> Iterator[bytes]:
        yield repr((FLAGS, LINKER_FLAGS, module.extras)).encode()
        for tool in module.tools:
            yield repr((tool.name, tool.package, tool.stamp)).encode()
        requirers = {extra.requirer for extra in module.extras} - {module.directory}
        for file in self._files(module.directory, requirers):
            yield file.relative_to(self.sources).as_posix().encode()
            yield file.read_bytes()

    def _files(self, directory: str, requirers: Iterable[str]) -> Iterator[Path]:
        own = self.sources / directory
        yield from sorted((*own.glob("*.go"), own / "go.mod", own / "go.sum"))
        for requirer in sorted(requirers):
            yield self.sources / requirer / "go.mod"
            yield self.sources / requirer / "go.sum"


def default() -> Store:
    """The store of whoever runs this: $TENANTRY_CACHE, or `tenantry` in the XDG directory for caches."""
    if own := os.environ.get("TENANTRY_CACHE"):
        return Store(Path(own).absolute())
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Store(Path(caches) / "tenantry")
