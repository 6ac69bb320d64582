"""A machine to build on: a `go` that is a few lines of shell, sources and a store of its own."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tools.catalog import Module, Tool
from tools.store import SOURCES, Store

GO = """\
#!/bin/sh
echo "$PWD: $*" >> "{root}/calls"
case $1 in
env) echo '{{"GOVERSION": "'"$(read -r version < {root}/version; echo $version)"'", "GOCACHE": "{root}/gocache", "GOMODCACHE": "{root}/mod"}}' ;;
mod) echo '{{"Dir": "{root}/dependency"}}' ;;
build)
    echo "go: downloading example.test/dependency"
    if [ -e "{root}/on-build" ]; then . "{root}/on-build"; fi
    while [ $# -gt 1 ]; do
        if [ "$1" = -o ]; then env > "$2"; fi
        shift
    done ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """Everything lies under `root`; PATH holds `programs` and what a shell script needs."""

    root: Path
    store: Store

    @property
    def programs(self) -> Path:
        return self.root / "bin"

    def install(self, name: str, script: str) -> Path:
        program = self.programs / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(script)
        program.chmod(0o755)
        return program

    def install_go(self, version: str = "go1.26.8") -> None:
        (self.root / "version").write_text(f"{version}\n")
        self.install("go", GO.format(root=self.root))

    def on_build(self, script: str) -> None:
        (self.root / "on-build").write_text(script)

    def calls(self, command: str) -> list[str]:
        """How Go was called with that command so far."""
        calls = self.root / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [line for line in lines if f": {command} " in line]

    def put(self, module: Module, go_version: str = "go1.26.8") -> Path:
        """A finished build of a module, as the builder leaves it."""
        directory = self.store.directory(module, go_version)
        directory.mkdir(parents=True)
        for tool in module.tools:
            (directory / tool.name).write_text(tool.name)
        self.store.link(module).symlink_to(directory.name)
        return directory

    def binary(self, module: Module, tool: Tool) -> Path:
        return self.store.directory(module, "go1.26.8") / tool.name


def new_machine(root: Path) -> Machine:
    machine = Machine(root, Store(root / "cache", root / "sources"))
    _copy_sources(machine.store.sources)
    dependency = root / "dependency"
    (dependency / "config/crd/bases").mkdir(parents=True)
    (dependency / "config/crd/bases/things.yaml").write_text("kind: CustomResourceDefinition\n")
    script = dependency / "python/cmd/pulumi-language-python-exec"
    script.parent.mkdir(parents=True)
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o444)
    machine.install("git", "#!/bin/sh\n")
    machine.install_go()
    return machine


def _copy_sources(target: Path) -> None:
    for module in SOURCES.iterdir():
        if (module / "go.mod").exists():
            shutil.copytree(module, target / module.name)


def path_of_only(machine: Machine) -> str:
    return os.pathsep.join([str(machine.programs), "/usr/bin", "/bin"])
