"""Which modules a run is about, and what it says about an official Pulumi."""

from collections.abc import Sequence

from tools import official
from tools.catalog import MODULES, PROVIDER, PROVIDER_VERSION, Group, Module, module_of, tools_of
from tools.official import Engine
from tools.progress import Display
from tools.store import Store


def named(names: Sequence[str]) -> tuple[Module, ...]:
    """The modules of some tools, in the order they are built. Raises: UnknownTool."""
    wanted = {module_of(name).directory for name in names}
    return tuple(module for module in MODULES if module.directory in wanted)


def sandbox() -> tuple[Module, ...]:
    return tuple(module for module in MODULES if module.group is Group.SANDBOX)


def needed(store: Store, display: Display) -> tuple[Module, ...]:
    """Everything but what an official Pulumi brings; says what that is."""
    engine = official.engine(store)
    if engine is None:
        return MODULES
    if not engine.usable:
        display.say(
            f"{_known_as(engine)} is passed over: it is older than {_minimum()}, or has no language host beside it"
        )
        return MODULES
    modules = tuple(module for module in MODULES if not _brought(module, engine))
    _explain(engine, modules, display)
    return modules


def _brought(module: Module, engine: Engine) -> bool:
    return module.group is Group.ENGINE and all(engine.path_of(tool.name) for tool in module.tools)


def _explain(engine: Engine, modules: Sequence[Module], display: Display) -> None:
    spared = {tool.name for tool in tools_of(MODULES)} - {tool.name for tool in tools_of(modules)}
    display.say(
        f"{_known_as(engine)} is used: no need for {', '.join(sorted(spared))} (--all builds them none the less)"
    )
    if PROVIDER not in spared:
        display.say(f"`pulumi plugin install resource kubernetes {PROVIDER_VERSION}` would spare you {PROVIDER}, too")


def _known_as(engine: Engine) -> str:
    return f"pulumi {engine.version or 'of unknown version'} at {engine.pulumi}"


def _minimum() -> str:
    return ".".join(map(str, official.MINIMUM))
