"""The command lines and the environment of the sandbox's processes, and of the commands that its user runs against it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from tenantry_sandbox.layout import Layout, SandboxError
from tenantry_sandbox.supervisor import existing
from tenantry_sandbox.tools.catalog import KUBERNETES, LANGUAGE_HOST, PROVIDER, PROVIDER_VERSION, PULUMI
from tenantry_sandbox.tools.store import command_of, path_of

Flags = Mapping[str, object]
MANIFESTS = Path(__file__).parent / "manifests"
"""What the programs of every sandbox are given: their flags, configurations, and objects of the clusters."""

PROXIES = ("HTTPS_PROXY", "NO_PROXY", "https_proxy", "no_proxy")
INHERITED = ("GOGC", "GOMEMLIMIT", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", *PROXIES)
"""What a process inherits from the user's shell: how much memory it may take, how to reach outside sources, and no secret."""
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")


def require() -> None:
    """Check that every program is there, before anything is started.

    Raises:  tenantry_sandbox.tools.catalog.ToolsError: one is missing; with how to get it.
    """
    for name in (*KUBERNETES, "kwok", *CONTROLLERS):
        command_of(name)


@cache
def documents(name: str) -> tuple[dict[str, Any], ...]:
    """The YAML documents of one of the files."""
    return tuple(yaml.load_all((MANIFESTS / name).read_bytes(), yaml.CSafeLoader))


def command(name: str, flags: Flags) -> tuple[str, ...]:
    """The command line of one of the sandbox's programs. flags: replace those of flags.yaml."""
    merged = {**documents("flags.yaml")[0][name], **flags}
    return (*command_of(name), *(f"--{flag}={_written(value)}" for flag, value in merged.items()))


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment of a process, with its own home and its own directory for temporary files."""
    scratch = home / "tmp"
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, "HOME": str(home), "TMPDIR": str(scratch), **extra}


def user_environment(root: Path, cluster: str | None = None) -> dict[str, str]:
    """The whole environment in which a command works on the sandbox.

    The user's own Pulumi home is not touched: neither its logins nor its plugins are used.

    Args:    cluster: the one that kubectl talks to; None: the management cluster.
    Raises:  SandboxError: there is no sandbox in the directory, or no such cluster in the sandbox.
    """
    layout, state = existing(root)
    name = cluster or state.clusters[0]
    if name not in state.clusters:
        raise SandboxError(f"the sandbox has no cluster '{name}'", f"use one of: {', '.join(state.clusters)}")
    return {
        **os.environ,
        "PULUMI_HOME": str(layout.pulumi_home),
        # No metadata beside the state: it is not written atomically, and a run that is killed meanwhile makes the state unreadable.
        "PULUMI_BACKEND_URL": f"{layout.backend.as_uri()}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # The state is written once at the end instead of twice per resource.
        "PULUMI_SKIP_CHECKPOINTS": "true",
        "PATH": f"{layout.programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "KUBECONFIG": str(layout.kubeconfig(name)),
        # By default kubectl keeps what it learns about a cluster's API in the user's home.
        "KUBECACHEDIR": str(layout.programs / "kubectl-cache"),
    }


def prepare(root: Path) -> None:
    """Install the programs and the plugin that commands need, unless that was done before.

    Raises:  SandboxError: there is no sandbox, or Pulumi refuses its plugin.
             tenantry_sandbox.tools.catalog.ToolsError: a program is missing.
    """
    variables, layout = user_environment(root), Layout(root.resolve())
    for directory in (layout.programs, layout.backend, layout.pulumi_home):
        directory.mkdir(mode=0o700, exist_ok=True)
    # The binary that carries several programs runs the one it is called by. An environment that is not activated has no tenantry
    # on PATH.
    for name, program in (
        ("kubectl", Path(command_of("kubectl")[0])),
        ("tenantry", Path(sys.executable).with_name("tenantry")),
    ):
        link = layout.programs / name
        if program.exists() and program != link:  # as it is for a sandbox in the sandbox
            link.unlink(missing_ok=True)
            link.symlink_to(program)
    _assemble(layout)
    # Pulumi's debug log of each run takes the engine a third of its time, and nothing reads it. It has no setting for this, and
    # goes on if it cannot make the directory.
    if not (logs := layout.pulumi_home / "logs").exists():
        logs.write_text("Here Pulumi would keep a debug log of each run. To have them, put a directory in its place.\n")
    _install_provider(layout, variables)


def _assemble(layout: Layout) -> None:
    """Put the engine and its language host side by side, as in an installed Pulumi; apart they cause a warning on every run."""
    for home in (path_of(PULUMI).parent, path_of(LANGUAGE_HOST).parent):
        for file in home.glob("pulumi*"):
            target = layout.programs / file.name
            if target.exists() and target.samefile(file):
                continue
            target.unlink(missing_ok=True)
            try:
                # The engine looks for the language host beside its real path, so a symbolic link would not do.
                target.hardlink_to(file)
            except OSError:  # the cache is on another file system
                shutil.copy2(file, target)


def _install_provider(layout: Layout, variables: Mapping[str, str]) -> None:
    """Not by putting it on PATH: Pulumi warns on every run of a plugin that is there."""
    try:
        # Under the version that the program asks for, that of its SDK. The plugin that is built is of one version; the engine does
        # not compare them, and other versions of the SDK work with it.
        wanted = version("pulumi-kubernetes")
    except PackageNotFoundError:  # the program has an environment of its own
        wanted = PROVIDER_VERSION
    if (layout.pulumi_home / "plugins" / f"resource-kubernetes-v{wanted}").is_dir():
        return
    plugin = path_of(PROVIDER)
    words = [str(path_of(PULUMI)), "plugin", "install", "resource", "kubernetes", wanted, "--file", str(plugin)]
    answer = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=300, check=False)
    if answer.returncode != 0:
        message = f"Pulumi did not install its provider: {answer.stderr.strip()}"
        raise SandboxError(message, f"see what is wrong with {plugin}")
