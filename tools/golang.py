"""Runs Go, always in the same surroundings: what the user's own settings say must not decide what a tool becomes."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools import processes
from tools.catalog import Tool
from tools.errors import BuildFailed
from tools.store import FLAGS, LINKER_FLAGS

SURROUNDINGS = {
    # Go would otherwise download another Go where a module asks for a newer one.
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly -buildvcs=false",
    "GOWORK": "off",
    "CGO_ENABLED": "0",
}


@dataclass(frozen=True, slots=True)
class Go:
    """An installed Go: what it is, and where it keeps things. `version` reads like go1.26.8."""

    executable: Path
    version: str
    build_cache: Path
    module_cache: Path

    def build(self, tool: Tool, module: Path, binary: Path, log: Path) -> None:
        """Build one tool of a module. Go's temporary files go above the binary's directory, which is the caller's to remove.

        Raises: BuildFailed.
        """
        linker = f"{LINKER_FLAGS} -X {tool.stamp}" if tool.stamp else LINKER_FLAGS
        command: list[str | Path] = [self.executable, "build", *FLAGS, "-ldflags", linker, "-o", binary, tool.package]
        surroundings = {**os.environ, **SURROUNDINGS, "GOTMPDIR": str(binary.parent.parent)}
        if processes.run_logged(command, module, surroundings, log) != 0:
            raise BuildFailed(
                f"Go could not build '{tool.name}'; the end of {log}:\n{_end_of(log)}",
                "correct what it says and run `make tools` again: what is built so far is kept",
            )

    def dependency(self, path: str, module: Path) -> Path:
        """The directory of a dependency in the version a module pins, downloaded if need be. Raises: BuildFailed."""
        answer = self._run(["mod", "download", "-json", path], module)
        if answer.returncode != 0:
            raise BuildFailed(
                f"Go could not download {path}:\n{answer.stdout}{answer.stderr}",
                "see that the module proxy can be reached",
            )
        return Path(json.loads(answer.stdout)["Dir"])

    def drop_build_cache(self) -> None:
        self._run(["clean", "-cache"], Path("/")).check_returncode()

    def _run(self, arguments: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
        return _run(self.executable, arguments, directory)


def find() -> Go | None:
    """The Go on PATH, of whatever version; None: there is none that runs."""
    found = shutil.which("go")
    if found is None:
        return None
    # At the root, where no go.mod can have a say.
    answer = _run(Path(found), ["env", "-json", "GOVERSION", "GOCACHE", "GOMODCACHE"], Path("/"))
    if answer.returncode != 0:
        return None
    values = json.loads(answer.stdout)
    return Go(Path(found), values["GOVERSION"], Path(values["GOCACHE"]), Path(values["GOMODCACHE"]))


def _run(go: Path, arguments: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **SURROUNDINGS}
    return subprocess.run([go, *arguments], cwd=directory, env=environment, capture_output=True, text=True)


def _end_of(log: Path, lines: int = 20) -> str:
    text = log.read_text(errors="replace").splitlines()
    return "\n".join(f"  | {line}" for line in text[-lines:])
