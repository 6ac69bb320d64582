"""Where a tool lies. Takes a few milliseconds and never runs Go.

What was built from this checkout's sources comes first: it is what the project is tested with. An official Pulumi on PATH
stands in for an engine that was not built, so whoever has one builds only the rest (`make tools` leaves the engine out then).

    python -m tools.locate pulumi pulumi-resource-kubernetes      prints a path per line
"""

import sys
from pathlib import Path

from tools import official, store
from tools.catalog import CRDS, LANGUAGE_HOST, PULUMI, Group, Module, module_of
from tools.errors import ToolMissing, ToolsError
from tools.store import Store

REMEDY = "run `make tools` (about 20 minutes the first time, seconds when Go has everything cached)"


def path_of(name: str) -> Path:
    """The binary of a tool.

    The directories of `pulumi` and `pulumi-language-python` belong on PATH, the provider's does not: Pulumi warns on every run
    of a plugin that lies there; it wants `pulumi plugin install resource kubernetes 4.25.0 --file <path>`.

    Raises: ToolMissing, UnknownTool.
    """
    module, tools = module_of(name), store.default()
    directory = _built(module, tools)
    path = directory / name if directory else _official(name, module, tools)
    if path is None:
        raise ToolMissing(f"'{name}' is not built, or not from the sources as they are now", REMEDY)
    return path


def crds() -> tuple[Path, ...]:
    """The files of Flux's CustomResourceDefinitions, sorted. Raises: ToolMissing."""
    directory = store.default().built(module_of("source-controller"))
    if directory is None:
        raise ToolMissing("the Flux controllers are not built, or not from the sources as they are now", REMEDY)
    return tuple(sorted((directory / CRDS).iterdir()))


def _built(module: Module, tools: Store) -> Path | None:
    """The engine and its language host come as a pair: a built one is not mixed with an installed one."""
    pair = (PULUMI, LANGUAGE_HOST)
    if any(tool.name in pair for tool in module.tools) and not all(tools.built(module_of(name)) for name in pair):
        return None
    return tools.built(module)


def _official(name: str, module: Module, tools: Store) -> Path | None:
    if module.group is not Group.ENGINE:
        return None
    engine = official.engine(tools)
    return engine.path_of(name) if engine and engine.usable else None


def main() -> int:
    try:
        for name in sys.argv[1:]:
            print(path_of(name))
    except ToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
