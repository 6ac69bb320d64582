"""A machine to build on: a `go` that is a few lines of shell, sources and a store of its own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tenantry_sandbox.tools.catalog import Module, module_of
from tenantry_sandbox.tools.store import SOURCES, Store

GO = """\
#!/bin/sh
echo "$PWD: $*" >> "{root}/calls"
case $1 in
mod) echo '{{"Dir": "{root}/dependency"}}' ;;
build)
    echo "go: downloading example.test/dependency"
    [ -e "{root}/on-build" ] && . "{root}/on-build"
    while [ "$1" != -o ]; do shift; done
    export -p > "$2" ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """Everything but the sources lies under `root`; PATH holds `programs` and nothing else."""

    root: Path
    sources: Path = SOURCES

    @property
    def store(self) -> Store:
        return Store(self.root / "cache", self.sources)

    @property
    def programs(self) -> Path:
        return self.root / "bin"

    def install(self, name: str, script: str = "#!/bin/sh\n") -> Path:
        program = self.programs / name
        program.write_text(script)
        program.chmod(0o755)
        return program

    def on_build(self, script: str) -> None:
        """What Go does in the middle of a build; `$PPID` is the test itself."""
        (self.root / "on-build").write_text(script)

    def calls(self, command: str) -> list[str]:
        """How Go was called with that command so far."""
        calls = self.root / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [line for line in lines if f": {command} " in line]

    def put(self, name: str) -> Path:
        """The directory of a finished build of a tool and of those that are built with it."""
        module = module_of(name)
        directory = self.store.directory(module)
        directory.mkdir(parents=True)
        for tool in module.tools:
            (directory / tool.name).touch()
        return directory

    def with_own_sources(self) -> Machine:
        """The same with sources that a test may change."""
        copy = self.root / "sources"
        for module in (entry for entry in SOURCES.iterdir() if (entry / "go.mod").exists()):
            shutil.copytree(module, copy / module.name)
        return Machine(self.root, copy)

    def left_of(self, module: Module) -> list[str]:
        """The entries of the module's directory in the store."""
        home = self.store.tools / module.directory
        return sorted(entry.name for entry in home.iterdir()) if home.exists() else []


def new_machine(root: Path) -> Machine:
    definitions = root / "dependency/config/crd/bases"
    definitions.mkdir(parents=True)
    (definitions / "things.yaml").write_text("kind: CustomResourceDefinition\n")
    (root / "dependency/go.mod").write_text("the dependency's")
    script = root / "dependency/python/cmd/pulumi-language-python-exec"
    script.parent.mkdir(parents=True)
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o444)
    machine = Machine(root)
    machine.programs.mkdir()
    machine.install("go", GO.format(root=root))
    return machine
