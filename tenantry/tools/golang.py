"""Runs Go with fixed settings, so that the user's own settings do not change the tools."""

import json
import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tenantry.tools.catalog import Tool
from tenantry.tools.errors import BuildFailed, ToolsError
from tenantry.tools.store import FLAGS, LINKER_FLAGS

SETTINGS = {
    # Otherwise Go downloads another Go version if a module requires a newer one.
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly -buildvcs=false",
    "GOWORK": "off",
    "CGO_ENABLED": "0",
}


def require() -> None:
    """Raises: ToolsError: Go is not on PATH. If it is too old for a module, Go itself reports that."""
    if shutil.which("go") is None:
        raise ToolsError(
            "Go is needed to build tools, and is not on PATH", "install Go 1.26 or newer from https://go.dev/dl/"
        )


def caches() -> tuple[Path, Path]:
    """Go's module cache and build cache."""
    # In the root directory no go.mod changes the answer.
    modules, compiled = _ask(["env", "GOMODCACHE", "GOCACHE"], Path("/")).stdout.splitlines()
    return Path(modules), Path(compiled)


def build(tool: Tool, module: Path, binary: Path, log: Path) -> None:
    """Build one tool of a module. Go's temporary files are in the parent of the binary's directory, which the caller removes.

    Raises: BuildFailed.
    """
    linker = f"{LINKER_FLAGS} -X {tool.stamp}" if tool.stamp else LINKER_FLAGS
    command = ["go", "build", *FLAGS, "-ldflags", linker, "-o", str(binary), tool.package]
    if _run_logged(command, module, {**_environment(), "GOTMPDIR": str(binary.parent.parent)}, log) != 0:
        end = "\n".join(f"  | {line}" for line in log.read_text(errors="replace").splitlines()[-20:])
        raise BuildFailed(
            f"Go could not build '{tool.name}'; the end of {log}:\n{end}",
            "correct what it says, then run it again: what is built so far is kept",
        )


def dependency(path: str, module: Path) -> Path:
    """The directory of a dependency in the version that a module pins, downloaded if needed. Raises: BuildFailed."""
    answer = _ask(["mod", "download", "-json", path], module)
    if answer.returncode != 0:
        message = f"Go could not download {path}:\n{answer.stdout}{answer.stderr}"
        raise BuildFailed(message, "check that the module proxy can be reached")
    return Path(json.loads(answer.stdout)["Dir"])


def _environment() -> dict[str, str]:
    return {**os.environ, **SETTINGS}


def _ask(arguments: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["go", *arguments], cwd=directory, env=_environment(), capture_output=True, text=True)


def _run_logged(command: list[str], directory: Path, environment: dict[str, str], log: Path) -> int:
    """Run a program, append its output to a file and return its exit code. An interruption kills the program.

    Go starts compilers, so it gets its own process group, which is killed as a whole. A thread starts it, because signals
    interrupt only the main thread. So none arrives between the start of the program and the registration of its clean-up.
    """

    def start(output: int) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        clean_up.callback(_end, child)
        return child

    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output, ExitStack() as clean_up, ThreadPoolExecutor(1) as thread:
        return thread.submit(start, output.fileno()).result().wait()


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        # Killing is safe: Go writes its caches atomically, and the caller removes the directory of temporary files.
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
