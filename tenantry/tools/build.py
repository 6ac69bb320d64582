"""Builds the tools: `tenantry sandbox tools`, and `make tools` in a checkout."""

import fcntl
import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tenantry.tools import catalog, golang, installed, locate, store
from tenantry.tools.catalog import CONTROLPLANE, MODULES, PROVIDER, PROVIDER_VERSION, PULUMI, Extra, Module, Trimmed
from tenantry.tools.errors import ToolMissing, ToolsError
from tenantry.tools.progress import duration, say, working
from tenantry.tools.store import Store

ROOM = 20
"""Gigabytes for a build of everything if Go has nothing cached: 7 for modules, 13 for the build cache."""

MEANWHILE = """\
These commands need no build. Try them meanwhile in another terminal:
  {tenantry} validate                    is tenants.yaml valid?
  {tenantry} render --environment dev    which objects does it yield?
  {tenantry} diff origin/main            what does my change do?\
"""


def main(names: Sequence[str] = (), *, everything: bool = False, listed: bool = False) -> int:
    """Build the named tools; without names, all that are neither built nor installed.

    All checkouts share what is built. You can interrupt this, and run it twice at the same time.

    Args:    everything: build also what is installed. listed: print where each program is instead.
    Returns: 0 built, 1 a build failed, 2 something is missing or there is no such tool, 130 interrupted.
    """
    # Clean up after a cancelled CI job or a timeout as after ^C.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        if listed:
            _list()
        else:
            _build(_selected(names, everything=everything), store.default())
    except ToolsError as error:
        say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted: the tools finished so far are kept, nothing half-built is left")
        return 130
    return 0


def _list() -> None:
    for name in (*(each for each in catalog.names() if each != CONTROLPLANE), *installed.KUBERNETES):
        try:
            where = " ".join(locate.command_of(name))
        except ToolMissing:
            where = "missing"
        program = installed.find(name)
        unused = f"; not {program}: {program.objection}" if program and program.objection else ""
        print(f"{name:<28}{where}{unused}")


def _selected(names: Sequence[str], *, everything: bool) -> Sequence[Module]:
    if everything:
        return MODULES
    if names:
        wanted = [catalog.module_of(name) for name in names]
        return [module for module in MODULES if module in wanted]
    _tell_installed()
    return [module for module in MODULES if not installed.replaces(module)]


def _tell_installed() -> None:
    for program in filter(None, map(installed.find, installed.ACCEPTED)):
        say(f"not using {program}: {program.objection}" if program.objection else f"using {program}")
    lacking = [name for name in installed.KUBERNETES if not installed.path_of(name)]
    if 0 < len(lacking) < len(installed.KUBERNETES):
        say(f"{CONTROLPLANE} is needed all the same, for {', '.join(lacking)}")
    if installed.path_of(PULUMI) and not installed.path_of(PROVIDER):
        say(f"`pulumi plugin install resource kubernetes {PROVIDER_VERSION}` would save building {PROVIDER}")


def _build(modules: Sequence[Module], kept: Store) -> None:
    stale = [module for module in modules if not kept.built(module)]
    if not stale:
        say(f"nothing to build: everything is up to date in {kept.tools}")
        return
    golang.require()
    names = [tool.name for module in stale for tool in module.tools]
    _announce(stale, [module for module in modules if module not in stale])
    labels = {name: f"[{number}/{len(names)}] {name}" for number, name in enumerate(names, 1)}
    start = time.monotonic()
    for module in stale:  # sequentially, because Go itself uses all cores
        with _locked(kept.lock(module), labels[module.tools[0].name]):
            _build_module(module, kept, labels)
    say(f"all done in {duration(time.monotonic() - start)}; the tools are in {kept.tools}")
    say("They run without Go's build cache: `go clean -cache` empties it, for your other Go projects too.")


def _announce(stale: Sequence[Module], built: Sequence[Module]) -> None:
    """Say what is there, what will be built, how long it takes, and what can be done meanwhile."""
    if built:
        say(f"built already: {_names(built)}")
    say(f"building {_names(stale)}")
    say(f"This takes {_forecast(stale)} and up to {ROOM} GB if Go has nothing cached, else seconds.")
    say(MEANWHILE.format(tenantry=_own_command()))
    for cache in golang.caches():
        nearest = next(each for each in (cache, *cache.parents) if each.exists())
        if (free := shutil.disk_usage(nearest).free / 1e9) < ROOM:
            say(f"warning: only {free:.1f} GB are free at {cache}; GOCACHE and GOMODCACHE can name a larger disk")


def _names(modules: Sequence[Module]) -> str:
    return ", ".join(tool.name for module in modules for tool in module.tools)


def _forecast(modules: Sequence[Module]) -> str:
    processors = os.cpu_count() or 1
    minutes = math.ceil(sum(module.seconds for module in modules) * 2 / processors / 60)
    return f"about {minutes} minute{'s'[: minutes > 1]} on {processors} processor{'s'[: processors > 1]}"


def _own_command() -> str:
    """`tenantry` as the user of this environment types it."""
    command = Path(sys.executable).with_name("tenantry")
    return str(command.relative_to(Path.cwd())) if command.is_relative_to(Path.cwd()) else str(command)


@contextmanager
def _locked(path: Path, label: str) -> Iterator[None]:
    """Let only one process build a module. The system releases the lock when the process ends, even if it is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with working(f"{label}: waiting for another process that is building it"):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_module(module: Module, kept: Store, labels: Mapping[str, str]) -> None:
    """Build all tools of a module, or none."""
    if kept.built(module):
        say(f"{labels[module.tools[0].name]}: another process has built it")
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
            with working(f"{labels[tool.name]}: building"):
                golang.build(tool, sources, result / tool.name, log)
            say(f"{labels[tool.name]}: built in {duration(time.monotonic() - start)}")
        for extra in module.extras:
            _copy(extra, golang.dependency(extra.dependency, kept.sources / extra.requirer), result)
        kept.keep(module, result)


def _trimmed(part: Trimmed, module: Path, copy: Path) -> Path:
    """A copy of a module's sources, with a directory that has only some packages of a dependency and replaces it."""
    origin = golang.dependency(part.dependency, module)
    shutil.copytree(module, copy)
    own = {file.relative_to(copy / part.into) for file in (copy / part.into).rglob("*.go")}
    for file in (origin / "go.mod", *(each for package in part.packages for each in (origin / package).glob("*.go"))):
        place = file.relative_to(origin)
        if place not in own:
            target = copy / part.into / place
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
