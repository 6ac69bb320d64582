"""The command that builds the tools; `make tools` runs it."""

import argparse
import sys
import time
from collections.abc import Sequence

from tools import catalog, cold, files, golang, locate, prerequisites, processes, progress, selection, store
from tools.builder import Builder
from tools.catalog import Module
from tools.errors import ToolMissing, ToolsError, Unprepared
from tools.golang import Go
from tools.progress import Display, duration, gigabytes
from tools.store import Store

EPILOG = """\
Without arguments: everything that is needed and not built yet. Where an official Pulumi (3.187 or newer, with its
language host beside it) is on PATH, that is the engine, and only the rest is built; the provider is left out too if
that Pulumi has kubernetes 4.25.0. What is built is shared by all checkouts and kept in $TENANTRY_CACHE, or
$XDG_CACHE_HOME/tenantry, or ~/.cache/tenantry. It is safe to interrupt this, and to run it twice at the same time.

examples:
  python -m tools.build                      what is needed; the first time takes about 20 minutes
  python -m tools.build --sandbox            only what plays the clusters
  python -m tools.build kwok controlplane    only these, and what is built together with them
  python -m tools.build --list               what there is, and where it lies
  python -m tools.build --drop-go-cache      build, then free what Go keeps to speed up the next build

exit code: 0 built, 1 a build failed, 2 something is missing or the usage is wrong, 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    processes.heed_termination()
    display = progress.display()
    try:
        _run(options, display)
    except ToolsError as error:
        display.say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        display.say("interrupted: the tools finished so far are kept, nothing half-built is left")
        return 130
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.build",
        description="Builds the programs that Tenantry needs, from source, with Go.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these tools: " + ", ".join(catalog.names()))
    parser.add_argument("--list", action="store_true", help="print each tool's path, or that it is missing, and stop")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="build the engine even where an official Pulumi is installed")
    which.add_argument("--sandbox", action="store_true", help="only the tools that play the clusters")
    parser.add_argument(
        "--drop-go-cache", action="store_true", help="empty Go's build cache afterwards (go clean -cache)"
    )
    options = parser.parse_args(arguments)
    if options.names and (options.all or options.sandbox):
        parser.error("either name tools, or use --all or --sandbox")
    return options


def _run(options: argparse.Namespace, display: Display) -> None:
    tools = store.default()
    if options.list:
        _list()
        return
    go = golang.find()
    _build(_selected(options, tools, display), tools, go, display)
    if options.drop_go_cache:
        _drop_go_cache(go, display)


def _list() -> None:
    for name in catalog.names():
        try:
            where = str(locate.path_of(name))
        except ToolMissing:
            where = "missing"
        print(f"{name:<28}{catalog.module_of(name).group:<10}{where}")


def _selected(options: argparse.Namespace, tools: Store, display: Display) -> tuple[Module, ...]:
    if options.names:
        return selection.named(options.names)
    if options.sandbox:
        return selection.sandbox()
    return catalog.MODULES if options.all else selection.needed(tools, display)


def _build(modules: Sequence[Module], tools: Store, go: Go | None, display: Display) -> None:
    stale = _stale(modules, tools, go, display)
    if not stale:
        display.say(f"nothing to build: all is there, in {tools.tools}")
        return
    go = prerequisites.check(go, stale, tools.sources)
    if cold.expected(go, stale, tools.sources):
        display.say(cold.announcement(go, stale))
        cold.require_room(go, stale)
    start = time.monotonic()
    Builder(tools, go, display).build(stale)
    display.say(f"all done in {duration(time.monotonic() - start)}")
    _tell_sizes(tools, go, display)


def _stale(modules: Sequence[Module], tools: Store, go: Go | None, display: Display) -> tuple[Module, ...]:
    """What a usable Go would build anew; without one, what is built from these sources is good enough."""
    if go and prerequisites.suffices(go, modules, tools.sources):
        builder = Builder(tools, go, display)
        return tuple(module for module in modules if builder.needs(module))
    return tuple(module for module in modules if tools.built(module) is None)


def _tell_sizes(tools: Store, go: Go, display: Display) -> None:
    display.say(f"tools           {gigabytes(files.size(tools.tools)):>8}  {tools.tools}")
    display.say(f"Go build cache  {gigabytes(files.size(go.build_cache)):>8}  {go.build_cache}")
    display.say(
        "The tools run without Go's build cache; `make tools-clean-cache` empties it, for your other Go projects too."
    )


def _drop_go_cache(go: Go | None, display: Display) -> None:
    if go is None:
        raise Unprepared("without Go on PATH its build cache cannot be found", "put Go on PATH")
    held = files.size(go.build_cache)
    with display.working("emptying Go's build cache"):
        go.drop_build_cache()
    display.say(f"freed {gigabytes(held - files.size(go.build_cache))} in {go.build_cache}")


if __name__ == "__main__":
    sys.exit(main())
