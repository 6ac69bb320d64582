"""Builds the tools: `tenantry sandbox tools`, and `make tools` in a checkout."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tenantry_sandbox.tools import store
from tenantry_sandbox.tools.catalog import (
    MODULES,
    Extra,
    Module,
    Tool,
    ToolsError,
    Trimmed,
    module_of,
)
from tenantry_sandbox.tools.store import FLAGS, LINKER_FLAGS, Store

SETTINGS = {
    # Otherwise Go downloads another Go version if a module requires a newer one.
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly -buildvcs=false",
    "GOWORK": "off",
    "CGO_ENABLED": "0",
}
"""The user's own settings of Go must not change the tools."""


def build(wanted: Sequence[str] = ()) -> None:
    """Build the named tools; without names, all that are not built.

    All checkouts share what is built. You can interrupt this, and run it twice at the same time: what is finished is kept, and
    nothing half-built is left.

    Raises:  ToolsError: Go is missing or cannot build one, or there is no such tool.
    """
    # Clean up after a cancelled CI job or a timeout as after ^C.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    names = [module_of(name) for name in wanted]
    _build([module for module in MODULES if module in names] or MODULES, store.default())


def _build(modules: Sequence[Module], kept: Store) -> None:
    stale = [module for module in modules if not kept.built(module)]
    if not stale:
        say(f"nothing to build: everything is up to date in {kept.tools}")
        return
    if shutil.which("go") is None:
        fix = "install Go 1.26 or newer from https://go.dev/dl/"
        raise ToolsError("Go is needed to build tools, and is not on PATH", fix)
    say(f"building {', '.join(tool.name for module in stale for tool in module.tools)}")
    say("Everything takes about 20 minutes on two cores, and 20 GB, if Go has nothing cached; else seconds.")
    for module in stale:  # sequentially, because Go itself uses all cores
        with _locked(kept.lock(module), module.directory):
            _build_module(module, kept)
    say(f"all done; the tools are in {kept.tools}")
    say("They run without Go's build cache: `go clean -cache` empties it, for your other Go projects too.")


@contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    """Let only one process build a module. The system releases the lock when the process ends, even if it is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{name}: waiting for another process that is building it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_module(module: Module, kept: Store) -> None:
    """Build all tools of a module, or none."""
    if kept.built(module):
        say(f"{module.directory}: another process has built it")
        return
    log = kept.log(module)
    log.unlink(missing_ok=True)
    with kept.draft(module) as draft:
        result = draft / "result"
        result.mkdir()
        sources = kept.sources / module.directory
        if module.trimmed:
            sources = _trimmed(module.trimmed, sources, draft / "sources")
        for tool in module.tools:
            start = time.monotonic()
            say(f"{tool.name}: building")
            _compile(tool, sources, result / tool.name, log)
            say(f"{tool.name}: built in {time.monotonic() - start:.0f} s")
        for extra in module.extras:
            _copy(extra, _dependency(extra.dependency, kept.sources / extra.requirer), result)
        kept.keep(module, result)


def _trimmed(part: Trimmed, module: Path, copy: Path) -> Path:
    """A copy of a module's sources, with a directory that has only some packages of a dependency and replaces it."""
    origin = _dependency(part.dependency, module)
    shutil.copytree(module, copy)
    own = {file.relative_to(copy / part.into) for file in (copy / part.into).rglob("*.go")}
    sources = (file for package in part.packages for file in (origin / package).glob("*.go"))
    for file in (origin / "go.mod", *sources):
        path = file.relative_to(origin)
        if path not in own:
            target = copy / part.into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    with (copy / "go.mod").open("a") as listed:
        listed.write(f"\nreplace {part.dependency} => ./{part.into}\n")
    return copy


def _copy(extra: Extra, origin: Path, result: Path) -> None:
    target = result / extra.into
    target.mkdir(exist_ok=True)
    for file in origin.glob(extra.files):
        # Only the content, because files in Go's module cache are read-only.
        copy = Path(shutil.copyfile(file, target / file.name))
        copy.chmod(0o755 if extra.executable else 0o644)


def _compile(tool: Tool, module: Path, binary: Path, log: Path) -> None:
    """Build one tool of a module. Go's temporary files are in the parent of the binary's directory, which the caller removes.

    Raises: ToolsError.
    """
    linker = f"{LINKER_FLAGS} -X {tool.stamp}" if tool.stamp else LINKER_FLAGS
    command = ["go", "build", *FLAGS, "-ldflags", linker, "-o", str(binary), tool.package]
    if _run_logged(command, module, {**os.environ, **SETTINGS, "GOTMPDIR": str(binary.parent.parent)}, log) != 0:
        end = "\n".join(f"  | {line}" for line in log.read_text(errors="replace").splitlines()[-20:])
        raise ToolsError(
            f"Go could not build '{tool.name}'; the end of {log}:\n{end}",
            "correct what it says, then run it again: what is built so far is kept",
        )


def _dependency(path: str, module: Path) -> Path:
    """The directory of a dependency in the version that a module pins, downloaded if needed. Raises: ToolsError."""
    command, variables = ["go", "mod", "download", "-json", path], {**os.environ, **SETTINGS}
    answer = subprocess.run(command, cwd=module, env=variables, capture_output=True, text=True)
    if answer.returncode != 0:
        message = f"Go could not download {path}:\n{answer.stdout}{answer.stderr}"
        raise ToolsError(message, "check that the module proxy can be reached")
    return Path(json.loads(answer.stdout)["Dir"])


def _run_logged(command: list[str], directory: Path, environment: dict[str, str], log: Path) -> int:
    """Run a program, append its output to a file and return its exit code. An interruption kills it with all that it started."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        where: dict[str, Any] = {"cwd": directory, "env": environment, "stdin": subprocess.DEVNULL}
        child = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, **where)
        try:
            return child.wait()
        finally:
            if child.poll() is None:
                # Killing is safe: Go writes its caches atomically, and the caller removes the directory of temporary files.
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
