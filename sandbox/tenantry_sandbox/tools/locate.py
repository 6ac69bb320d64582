"""Finds the path of a tool. This takes milliseconds and never runs Go.

Tools that were built from the sources of this checkout are preferred, because the project is tested with them. If the engine was
not built, an official Pulumi on PATH is used, with its language host in the same directory and its plugin in the user's home.
"""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from tenantry_sandbox.tools import store
from tenantry_sandbox.tools.catalog import (
    CONTROLPLANE,
    KUBERNETES,
    LANGUAGE_HOST,
    PROVIDER,
    PROVIDER_VERSION,
    PULUMI,
    Module,
    ToolMissing,
    module_of,
)

FIX = "run `tenantry sandbox tools` once: it needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk"
OLDEST = (3, 220)
"""The oldest version of an installed Pulumi: the program keeps KUBECONFIG from the provider, which older ones do not know."""


def path_of(name: str) -> Path:
    """The binary of a tool. Raises: ToolMissing; ToolsError: there is no such tool."""
    # The engine and its language host must both be built or both be installed.
    together = (PULUMI, LANGUAGE_HOST) if name in (PULUMI, LANGUAGE_HOST) else (name,)
    kept = store.default()
    built = {tool: kept.built(module_of(tool)) for tool in together}
    directory = built[name] if all(built.values()) else None
    path = directory / name if directory else installed(name)
    if path is None:
        raise ToolMissing(f"the sandbox's programs are not built yet: there is no '{name}' of this version", FIX)
    return path


def command_of(name: str) -> tuple[str, ...]:
    """The command of a tool or of a program of Kubernetes. Raises: ToolMissing; ToolsError: there is no such tool."""
    return (str(path_of(CONTROLPLANE)), name) if name in KUBERNETES else (str(path_of(name)),)


def crds() -> tuple[Path, ...]:
    """The files of Flux's CustomResourceDefinitions, sorted. Raises: ToolMissing."""
    return tuple(sorted((path_of("source-controller").parent / "crds").iterdir()))


def kustomize() -> str:
    """The path of the kustomize that was built, for `tenantry import`; "" if it was not."""
    try:
        return str(path_of("kustomize"))
    except ToolMissing:
        return ""


def installed(name: str) -> Path | None:
    """The path of an official Pulumi's engine, language host or plugin, if its version fits; None for other tools."""
    engine = shutil.which(PULUMI)
    # The engine that was built here does not count as installed.
    if not engine or Path(engine).resolve().is_relative_to(store.default().tools.resolve()):
        return None
    # The plugin not from $PULUMI_HOME, which the sandbox and the tests set to a directory that they fill from here.
    plugins = Path.home() / ".pulumi" / "plugins" / f"resource-kubernetes-v{PROVIDER_VERSION}"
    host = Path(engine).with_name(LANGUAGE_HOST)
    path = {PULUMI: Path(engine), LANGUAGE_HOST: host, PROVIDER: plugins / PROVIDER}.get(name)
    usable = path and path.is_file() and os.access(host, os.X_OK) and _version(Path(engine)) >= OLDEST
    return path if usable else None


def replaces(module: Module) -> bool:
    """Whether everything that a module builds is installed."""
    return all(installed(tool.name) for tool in module.tools)


@functools.cache
def _version(engine: Path) -> tuple[int, ...]:
    """The version that an installed engine reports, such as (3, 259); () if it reports none. Cached, because asking is slow."""
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run([engine, "version"], env=environment, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    version = re.search(r"(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, version.groups())) if version else ()
