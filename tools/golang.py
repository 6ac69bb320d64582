"""Runs Go, always with the same settings: the user's own must not decide what a tool becomes."""

import json
import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tools.catalog import Tool
from tools.errors import BuildFailed, ToolsError
from tools.store import FLAGS, LINKER_FLAGS

SETTINGS = {
    # Go would otherwise download another Go where a module asks for a newer one.
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly -buildvcs=false",
    "GOWORK": "off",
    "CGO_ENABLED": "0",
}


def require() -> None:
    """Raises: ToolsError: there is no Go on PATH. Go itself tells whether it is too old for a module."""
    if shutil.which("go") is None:
        raise ToolsError(
            "Go is needed to build tools, and is not on PATH", "install Go 1.26 or newer from https://go.dev/dl/"
        )


def caches() -> tuple[Path, Path]:
    """Where Go keeps modules, and what it has compiled."""
    # In the root directory, where no go.mod can have a say.
    modules, compiled = _ask(["env", "GOMODCACHE", "GOCACHE"], Path("/")).stdout.splitlines()
    return Path(modules), Path(compiled)


def build(tool: Tool, module: Path, binary: Path, log: Path) -> None:
    """Build one tool of a module. Go's temporary files go above the binary's directory, which the caller removes.

    Raises: BuildFailed.
    """
    linker = f"{LINKER_FLAGS} -X {tool.stamp}" if tool.stamp else LINKER_FLAGS
    command = ["go", "build", *FLAGS, "-ldflags", linker, "-o", str(binary), tool.package]
    if _run_logged(command, module, {**_environment(), "GOTMPDIR": str(binary.parent.parent)}, log) != 0:
        end = "\n".join(f"  | {line}" for line in log.read_text(errors="replace").splitlines()[-20:])
        raise BuildFailed(
            f"Go could not build '{tool.name}'; the end of {log}:\n{end}",
            "correct what it says, then run `make tools` again: what is built so far is kept",
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
    """The exit code of a program whose output is appended to a file. An interruption ends the program.

    Go runs compilers, so it gets a process group, which can be ended as one. A thread starts it: signals interrupt the main
    thread only, and so never fall between the start of the program and the note that it has to be ended.
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
        # At once: what Go keeps is written safely, and its temporary files lie in a directory that the caller removes.
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
