"""The tools: what each is built from. `build` and `locate` read this table and decide nothing about single tools themselves.

A module here is a directory of this package with a go.mod of its own: versions that one tool needs do not build with another's.
Raising a version means editing that go.mod, whose comments name the pitfalls, and the stamp below where there is one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tools.errors import UnknownTool

PULUMI = "pulumi"
LANGUAGE_HOST = "pulumi-language-python"
PROVIDER = "pulumi-resource-kubernetes"
PROVIDER_VERSION = "4.25.0"
CRDS = "crds"
"""The directory beside the controllers' binaries that holds their CustomResourceDefinitions."""


class Group(StrEnum):
    """What a tool is for."""

    ENGINE = "engine"
    """Runs the program: `pulumi up`. An official installation of Pulumi takes its place."""

    SANDBOX = "sandbox"
    """Plays the clusters that the program talks to."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One binary.

    stamp:        the linker's -X, as variable=value; the version that the tool reports.
    cold_seconds: how long it took on two cores with an empty cache, after the tools before it in the table.
    """

    name: str
    package: str
    cold_seconds: int
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Extra:
    """Files of a dependency that have to lie with the binaries.

    requirer:   the directory here whose go.mod pins the dependency.
    into:       a directory beside the binaries; empty: right beside them.
    executable: module archives hold no modes, so a script has to be made executable again.
    """

    requirer: str
    dependency: str
    files: str
    into: str = ""
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """The unit of building: the tools that share a go.mod are built, kept and replaced together."""

    directory: str
    group: Group
    tools: tuple[Tool, ...]
    extras: tuple[Extra, ...] = ()


def _controller(name: str, cold_seconds: int) -> Tool:
    return Tool(name, f"github.com/fluxcd/{name}", cold_seconds)


def _definitions(controller: str, requirer: str = "flux") -> Extra:
    return Extra(requirer, f"github.com/fluxcd/{controller}", "config/crd/bases/*.yaml", into=CRDS)


_PULUMI_VERSION = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.259.0"

MODULES = (
    Module(
        "pulumi",
        Group.ENGINE,
        (Tool(PULUMI, "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", 150, _PULUMI_VERSION),),
    ),
    Module(
        "language-python",
        Group.ENGINE,
        # The newest language host to be had as a module is older than the engine; it is made to report the engine's version.
        (
            Tool(
                LANGUAGE_HOST, "github.com/pulumi/pulumi/sdk/python/cmd/pulumi-language-python/v3", 25, _PULUMI_VERSION
            ),
        ),
        (
            # The host starts every program through this script, which must match the Python SDK, hence the engine's module.
            Extra(
                requirer="pulumi",
                dependency="github.com/pulumi/pulumi/sdk/v3",
                files="python/cmd/pulumi-language-python-exec",
                executable=True,
            ),
        ),
    ),
    Module(
        "provider-kubernetes",
        Group.ENGINE,
        (
            Tool(
                PROVIDER,
                ".",
                395,
                f"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={PROVIDER_VERSION}",
            ),
        ),
    ),
    Module(
        "controlplane",
        Group.SANDBOX,
        (Tool("controlplane", ".", 220, "k8s.io/component-base/version.gitVersion=v1.36.3"),),
    ),
    Module(
        "flux",
        Group.SANDBOX,
        (
            _controller("source-controller", 170),
            _controller("kustomize-controller", 35),
            _controller("helm-controller", 10),
        ),
        (
            _definitions("source-controller"),
            _definitions("kustomize-controller"),
            _definitions("helm-controller"),
            _definitions("notification-controller", requirer="notification"),
            # A fleet may hold image updates; that nobody makes them in a sandbox is no reason to refuse them there.
            _definitions("image-reflector-controller", requirer="image-reflector"),
            _definitions("image-automation-controller", requirer="image-automation"),
        ),
    ),
    Module("notification", Group.SANDBOX, (_controller("notification-controller", 105),)),
    Module("kwok", Group.SANDBOX, (Tool("kwok", "sigs.k8s.io/kwok/cmd/kwok", 60),)),
)


def names() -> tuple[str, ...]:
    """Every tool's name, in the order they are built."""
    return tuple(tool.name for tool in tools_of(MODULES))


def tools_of(modules: Iterable[Module]) -> Iterator[Tool]:
    return (tool for module in modules for tool in module.tools)


def module_of(name: str) -> Module:
    """The module that a tool is built in. Raises: UnknownTool."""
    for module in MODULES:
        if any(tool.name == name for tool in module.tools):
            return module
    raise UnknownTool(f"there is no tool '{name}'", f"use one of: {', '.join(names())}")


def cold_seconds(modules: Iterable[Module]) -> int:
    return sum(tool.cold_seconds for tool in tools_of(modules))
