"""Builds a module's tools and puts them into the store: all of them at once, or none."""

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tools import files, locks
from tools.catalog import Extra, Module, Tool, tools_of
from tools.golang import Go
from tools.progress import Display, duration
from tools.store import Store

DRAFT = "building-"
"""How the directories of builds that are under way begin."""

KEPT = 3
"""How many builds of a module stay, so that going back and forth between branches builds nothing."""

Labels = Mapping[str, str]
"""How the tool of a name is announced."""


@dataclass(frozen=True, slots=True)
class Builder:
    """What all builds of a run share."""

    store: Store
    go: Go
    display: Display

    def needs(self, module: Module) -> bool:
        """Whether the module was not built from the sources as they are now by this Go."""
        return self.store.built(module) != self.store.directory(module, self.go.version).resolve()

    def build(self, modules: Sequence[Module]) -> None:
        """Build one module after the other, as Go itself keeps all cores busy. Raises: BuildFailed."""
        tools = tuple(tools_of(modules))
        labels = {tool.name: f"[{number}/{len(tools)}] {tool.name}" for number, tool in enumerate(tools, 1)}
        for module in modules:
            self._build_alone(module, labels)

    def _build_alone(self, module: Module, labels: Labels) -> None:
        first = labels[module.tools[0].name]

        def waiting(holder: str) -> AbstractContextManager[None]:
            return self.display.working(f"{first}: waiting, it is being built by {holder}")

        with locks.held(self.store.lock(module), waiting):
            if self.needs(module):
                self._build(module, labels)
            else:
                self.display.say(f"{first}: built meanwhile by another process")

    def _build(self, module: Module, labels: Labels) -> None:
        home = self.store.home(module)
        home.mkdir(exist_ok=True)
        _sweep(home)
        self.store.log(module).unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=home) as draft:
            result = Path(draft, "result")
            result.mkdir()
            for tool in module.tools:
                self._build_tool(tool, module, result, labels[tool.name])
            for extra in module.extras:
                self._copy(extra, result)
            self._publish(module, result)

    def _build_tool(self, tool: Tool, module: Module, result: Path, label: str) -> None:
        start = time.monotonic()
        with self.display.working(f"{label}: building"):
            directory = self.store.sources / module.directory
            self.go.build(tool, directory, result / tool.name, self.store.log(module))
        self.display.say(f"{label}: built in {duration(time.monotonic() - start)}")

    def _copy(self, extra: Extra, result: Path) -> None:
        origin = self.go.dependency(extra.dependency, self.store.sources / extra.requirer)
        target = result / extra.into
        target.mkdir(exist_ok=True)
        for file in origin.glob(extra.files):
            # Contents only: what lies in Go's module cache is read-only.
            copy = Path(shutil.copyfile(file, target / file.name))
            copy.chmod(0o755 if extra.executable else 0o644)

    def _publish(self, module: Module, result: Path) -> None:
        directory = self.store.directory(module, self.go.version)
        # There is one only if the user took something out of it.
        shutil.rmtree(directory, ignore_errors=True)
        result.rename(directory)
        files.replace_link(self.store.link(module), directory.name)
        _prune(self.store.home(module))


def _sweep(home: Path) -> None:
    """Remove what a builder left that was killed; it held the lock that is ours now."""
    for draft in home.glob(f"{DRAFT}*"):
        shutil.rmtree(draft)


def _prune(home: Path) -> None:
    """Remove all but the newest builds, and the links to them."""
    builds = [entry for entry in home.iterdir() if not entry.is_symlink() and not entry.name.startswith(DRAFT)]
    builds.sort(key=lambda build: build.stat().st_mtime, reverse=True)
    for build in builds[KEPT:]:
        shutil.rmtree(build)
    for entry in home.iterdir():
        if entry.is_symlink() and not entry.exists():
            entry.unlink()
