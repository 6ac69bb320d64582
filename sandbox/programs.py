"""How the sandbox's programs are called: their command lines and the environment they get."""

import os
from collections.abc import Mapping
from pathlib import Path

from tools.locate import path_of

Flags = Mapping[str, object]

INHERITED = (
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
"""What a program may take over from the user's shell: how to reach outside sources, and no secret that a shell may hold."""
NAMES = (
    "controlplane",
    "kwok",
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
)


def require() -> None:
    """Make sure that every program is there, before anything is started.

    Raises:  tools.errors.ToolsError: one is not, with how to get it.
    """
    for name in NAMES:
        path_of(name)


def command(name: str, flags: Flags) -> tuple[str, ...]:
    """The command line of a program that was built for the sandbox."""
    return (str(path_of(name)), *_rendered(flags))


def controlplane(part: str, flags: Flags) -> tuple[str, ...]:
    """The command line of one part of the control plane: all of them are one binary."""
    return (str(path_of("controlplane")), part, *_rendered(flags))


def environment(home: Path, **extra: str) -> dict[str, str]:
    """A process's environment, with a home and a directory for temporary files of its own."""
    scratch = home / "tmp"
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, "HOME": str(home), "TMPDIR": str(scratch), **extra}


def _rendered(flags: Flags) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in flags.items())
