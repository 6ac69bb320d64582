"""The command lines and the environment of the sandbox's programs."""

import os
from collections.abc import Mapping
from pathlib import Path

from tenantry.tools.installed import KUBERNETES
from tenantry.tools.locate import command_of

Flags = Mapping[str, object]

INHERITED = (
    "GOGC",
    "GOMEMLIMIT",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""What a program inherits from the user's shell: how much memory it may take, how to reach outside sources, and no secret."""
NAMES = (
    *KUBERNETES,
    "kwok",
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
)


def require() -> None:
    """Check that every program is there, before anything is started.

    Raises:  tenantry.tools.errors.ToolsError: one is missing; with how to get it.
    """
    for name in NAMES:
        command_of(name)


def command(name: str, flags: Flags) -> tuple[str, ...]:
    """The command line of one of the sandbox's programs."""
    return (*command_of(name), *(f"--{flag}={value}" for flag, value in flags.items()))


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment of a process, with its own home and its own directory for temporary files."""
    scratch = home / "tmp"
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, "HOME": str(home), "TMPDIR": str(scratch), **extra}
