"""Finds the path of a tool. This takes milliseconds and never runs Go.

Tools that were built from the sources of this checkout are preferred, because the project is tested with them. If the engine was
not built, an official Pulumi on PATH is used. For the programs of Kubernetes, an installed one with a fitting version is preferred.
"""

from pathlib import Path

from tenantry.tools import installed, store
from tenantry.tools.catalog import CONTROLPLANE, CRDS, LANGUAGE_HOST, PULUMI, module_of
from tenantry.tools.errors import ToolMissing

FIX = "run `tenantry sandbox tools` once: it needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk"


def path_of(name: str) -> Path:
    """The binary of a tool. Raises: ToolMissing; ToolsError: there is no such tool."""
    # The engine and its language host must both be built or both be installed.
    together = (PULUMI, LANGUAGE_HOST) if name in (PULUMI, LANGUAGE_HOST) else (name,)
    kept = store.default()
    built = {each: kept.built(module_of(each)) for each in together}
    directory = built[name] if all(built.values()) else None
    path = directory / name if directory else installed.path_of(name)
    if path is None:
        raise ToolMissing(f"the sandbox's programs are not built yet: there is no '{name}' of this version", FIX)
    return path


def command_of(name: str) -> tuple[str, ...]:
    """The command of a tool or of a program of Kubernetes. `controlplane` contains the latter, if they are not installed.

    Raises: ToolMissing; ToolsError: there is no such tool.
    """
    if name not in installed.KUBERNETES:
        return (str(path_of(name)),)
    path = installed.path_of(name)
    return (str(path),) if path else (str(path_of(CONTROLPLANE)), name)


def crds() -> tuple[Path, ...]:
    """The files of Flux's CustomResourceDefinitions, sorted. Raises: ToolMissing."""
    return tuple(sorted((path_of("source-controller").parent / CRDS).iterdir()))
