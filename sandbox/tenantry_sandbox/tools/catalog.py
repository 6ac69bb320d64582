"""The programs that are built from source, as tools.yaml lists them, and the errors of those who look for one."""

from pathlib import Path

import yaml
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from tenantry.messages.errors import Refused

PULUMI = "pulumi"
LANGUAGE_HOST = "pulumi-language-python"
PROVIDER = "pulumi-resource-kubernetes"
CONTROLPLANE = "controlplane"
KUBERNETES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
"""The programs in the binary `controlplane`, which runs the one that it is called by, or that its first argument names."""


class ToolsError(Refused):
    """Something is missing or used wrongly, or cannot be built."""


class ToolMissing(ToolsError):
    """The tool is neither installed nor built from the current sources."""


@dataclass(frozen=True)
class Tool:
    """One binary. stamp: the linker's -X, as variable=value."""

    name: str
    package: str
    stamp: str = ""


@dataclass(frozen=True)
class Extra:
    """Files of a dependency that the binaries need next to them.

    requirer:   the directory here whose go.mod pins the dependency.
    into:       a directory next to the binaries; empty: the directory of the binaries.
    executable: make the files executable, because module archives contain no file modes.
    """

    requirer: str
    dependency: str
    files: str
    into: str = ""
    executable: bool = False


@dataclass(frozen=True)
class Trimmed:
    """A dependency of which only some packages are compiled, because a file of it imports many that no tool needs.

    into:     the directory of the module that stands for the dependency. A file there takes the place of the dependency's own.
    packages: the directories that are taken over from the dependency.
    """

    dependency: str
    into: str
    packages: tuple[str, ...]


@dataclass(frozen=True)
class Module:
    """The tools with the same go.mod. They are built, kept and replaced together."""

    directory: str
    tools: tuple[Tool, ...]
    extras: tuple[Extra, ...] = ()
    trimmed: Trimmed | None = None


SOURCES = Path(__file__).parent
MODULES = TypeAdapter(tuple[Module, ...]).validate_python(yaml.safe_load((SOURCES / "tools.yaml").read_bytes()))
NAMES = tuple(tool.name for module in MODULES for tool in module.tools)


def module_of(name: str) -> Module:
    """The module that a tool is built in. Raises: ToolsError: there is no such tool."""
    for module in MODULES:
        if any(tool.name == name for tool in module.tools):
            return module
    raise ToolsError(f"there is no tool '{name}'", f"use one of: {', '.join(NAMES)}")


PROVIDER_VERSION = module_of(PROVIDER).tools[0].stamp.rpartition("=")[2]
