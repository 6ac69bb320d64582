"""Prepares a sandbox for the commands that its user runs against it, such as pulumi and kubectl."""

import os
import sys
from pathlib import Path

from tenantry.sandbox import pulumi
from tenantry.sandbox.layout import Layout, SandboxError
from tenantry.sandbox.state import load
from tenantry.tools.locate import command_of, path_of


def prepare(root: Path) -> None:
    """Install the programs and plugins that commands need, unless that was done before.

    Raises:  SandboxError: there is no sandbox, or Pulumi refuses its plugin.
             tenantry.tools.errors.ToolsError: a program is missing.
    """
    variables, layout = environment(root), Layout(root.resolve())
    layout.programs.mkdir(mode=0o700, exist_ok=True)
    _link_programs(layout)
    pulumi.prepare(layout, variables)


def environment(root: Path, cluster: str | None = None) -> dict[str, str]:
    """The whole environment in which a command works on the sandbox.

    Args:    cluster: the one that kubectl talks to; None: the management cluster.
    Raises:  SandboxError: there is no sandbox in the directory, or no such cluster in the sandbox.
    """
    layout = Layout(root.resolve())
    state = load(layout) if layout.exists() else None
    if state is None:
        raise SandboxError(f"there is no sandbox in {root}", "start one: tenantry sandbox up")
    name = cluster or state.clusters[0]
    if name not in state.clusters:
        raise SandboxError(f"the sandbox has no cluster '{name}'", f"use one of: {', '.join(state.clusters)}")
    return {
        **os.environ,
        **pulumi.variables(layout),
        "PATH": _path(layout),
        "KUBECONFIG": str(layout.kubeconfig(name)),
        # By default kubectl keeps what it learns about a cluster's API in the user's home.
        "KUBECACHEDIR": str(layout.programs / "kubectl-cache"),
    }


def _path(layout: Layout) -> str:
    """PATH, with the sandbox's own programs first, and an installed Pulumi where PATH does not lead to it."""
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    first = [str(layout.programs)]
    engine = path_of("pulumi").parent
    if engine == path_of(pulumi.LANGUAGE_HOST).parent and str(engine) not in directories:
        first.append(str(engine))
    return os.pathsep.join([*first, *(directory for directory in directories if directory not in first)])


def _link_programs(layout: Layout) -> None:
    """Put kubectl and this version of tenantry on PATH.

    The binary that carries several programs runs the one it is called by. An environment that is not activated has no tenantry
    there.
    """
    _link(layout.programs / "kubectl", Path(command_of("kubectl")[0]))
    tenantry = Path(sys.executable).with_name("tenantry")
    if tenantry.exists():
        _link(layout.programs / "tenantry", tenantry)


def _link(link: Path, program: Path) -> None:
    if program != link:  # as it is for a sandbox in the sandbox
        link.unlink(missing_ok=True)
        link.symlink_to(program)
