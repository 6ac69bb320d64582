"""The programs that are built from source. `build` and `locate` read this table and decide nothing about single programs.

Each module is a directory of this package with its own go.mod, because the tools need different versions of their dependencies.
To raise a version, edit the go.mod, whose comments name the pitfalls, and the stamp below if there is one.
"""

from dataclasses import dataclass

from tenantry.tools.errors import ToolsError

PULUMI = "pulumi"
LANGUAGE_HOST = "pulumi-language-python"
PROVIDER = "pulumi-resource-kubernetes"
PROVIDER_VERSION = "4.25.0"
CONTROLPLANE = "controlplane"
HELM = "helm"
KUSTOMIZE = "kustomize"
CRDS = "crds"
"""The directory next to the controllers' binaries that contains their CRDs."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One binary. `stamp` is the linker's -X, as variable=value: the version that the tool reports."""

    name: str
    package: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A dependency of which only some packages are compiled, because a file of it imports many that no tool needs.

    into:     the directory of the module that stands for the dependency. A file there takes the place of the dependency's own.
    packages: the directories that are taken over from the dependency.
    """

    dependency: str
    into: str
    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """The tools with the same go.mod. They are built, kept and replaced together."""

    directory: str
    tools: tuple[Tool, ...]
    extras: tuple[Extra, ...] = ()
    trimmed: Trimmed | None = None
    seconds: int = 0
    """How long two processors build it after the modules before it, if Go had nothing cached."""


def _controller(name: str) -> Tool:
    return Tool(name, f"github.com/fluxcd/{name}")


def _definitions(controller: str, requirer: str = "flux") -> Extra:
    return Extra(requirer, f"github.com/fluxcd/{controller}", "config/crd/bases/*.yaml", into=CRDS)


_PULUMI = "github.com/pulumi/pulumi"
_PULUMI_VERSION = f"{_PULUMI}/sdk/v3/go/common/version.Version=v3.259.0"
_PROVIDER_VERSION = f"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={PROVIDER_VERSION}"
_SDK = Trimmed(
    "github.com/pulumi/pulumi-kubernetes/sdk/v4",
    "sdk",
    tuple(f"go/kubernetes{each}" for each in ("", "/apiextensions", "/helm/v4", "/meta/v1", "/utilities", "/yaml/v2")),
)

MODULES = (
    Module("pulumi", (Tool(PULUMI, f"{_PULUMI}/pkg/v3/cmd/pulumi", _PULUMI_VERSION),), seconds=160),
    Module(
        "language-python",
        # The newest language host that is a Go module is older than the engine. The stamp makes it report the engine's version.
        (Tool(LANGUAGE_HOST, f"{_PULUMI}/sdk/python/cmd/pulumi-language-python/v3", _PULUMI_VERSION),),
        # The host starts every program through this script, which must match the Python SDK, hence the engine's module.
        (Extra("pulumi", f"{_PULUMI}/sdk/v3", "python/cmd/pulumi-language-python-exec", executable=True),),
        seconds=35,
    ),
    # The whole SDK for Go takes more than half of the provider's build. The file here that replaces one of it says why.
    Module("provider-kubernetes", (Tool(PROVIDER, ".", _PROVIDER_VERSION),), trimmed=_SDK, seconds=170),
    Module(
        "controlplane",
        (Tool(CONTROLPLANE, ".", "k8s.io/component-base/version.gitVersion=v1.36.3"),),
        seconds=275,
    ),
    Module(
        "flux",
        (_controller("source-controller"), _controller("kustomize-controller"), _controller("helm-controller")),
        (
            _definitions("source-controller"),
            _definitions("kustomize-controller"),
            _definitions("helm-controller"),
            _definitions("notification-controller", requirer="notification"),
        ),
        seconds=210,
    ),
    Module("notification", (_controller("notification-controller"),), seconds=130),
    Module("kwok", (Tool("kwok", "sigs.k8s.io/kwok/cmd/kwok"),), seconds=95),
    Module(
        "render",
        (
            Tool(
                KUSTOMIZE, "sigs.k8s.io/kustomize/kustomize/v5", "sigs.k8s.io/kustomize/api/provenance.version=v5.8.1"
            ),
            Tool(HELM, "helm.sh/helm/v4/cmd/helm", "helm.sh/helm/v4/internal/version.version=v4.2.4"),
        ),
        seconds=15,
    ),
)


def names() -> tuple[str, ...]:
    """Every tool's name, in the order they are built."""
    return tuple(tool.name for module in MODULES for tool in module.tools)


def module_of(name: str) -> Module:
    """The module that a tool is built in. Raises: ToolsError: there is no such tool."""
    for module in MODULES:
        if any(tool.name == name for tool in module.tools):
            return module
    raise ToolsError(f"there is no tool '{name}'", f"use one of: {', '.join(names())}")
