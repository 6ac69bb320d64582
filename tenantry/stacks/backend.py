"""Where Pulumi keeps a project's state, and who holds the locks on it that Pulumi keeps in files."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import yaml

_SERVICE = ("http", "https")


def backend_of(project: Path, given: Mapping[str, str]) -> str:
    """The address of the backend; "" if only Pulumi knows it, from `pulumi login`.

    Args: given: the user's environment variables, which win over the project's file.
    """
    backend = about(project).get("backend")
    url = backend.get("url") if isinstance(backend, dict) else None
    return given.get("PULUMI_BACKEND_URL") or (url if isinstance(url, str) else "")


def is_self_managed(backend: str) -> bool:
    """Whether the state is in files, a bucket or a database. False if it is in Pulumi Cloud, or if that is unknown."""
    return bool(backend) and urlsplit(backend).scheme not in _SERVICE


def about(project: Path) -> dict[str, Any]:
    """The content of Pulumi.yaml; empty if it cannot be read, which Pulumi itself reports."""
    try:
        content = yaml.safe_load((project / "Pulumi.yaml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def refreshes_always(project: Path) -> bool:
    """Whether Pulumi reads what is on the cluster before each run, unless it is told otherwise."""
    options = about(project).get("options")
    return isinstance(options, dict) and options.get("refresh") == "always"


_ADOPTED_UNTIL = (4, 29)
"""Since this version of the provider, creating an object that exists fails, unless the provider is told otherwise."""


def creates_by_adopting(project: Path) -> bool:
    """Whether the provider that the project's program uses is known to adopt an existing object instead of failing."""
    found = _sdk_version(project)
    return found is not None and found < _ADOPTED_UNTIL


def _sdk_version(project: Path) -> tuple[int, int] | None:
    """The version of the Kubernetes provider's SDK in the project's virtual environment; None if it is not known."""
    runtime = about(project).get("runtime")
    options = runtime.get("options") if isinstance(runtime, dict) else None
    folder = options.get("virtualenv") if isinstance(options, dict) else None
    if not isinstance(folder, str):
        return None
    names = [each.name for each in (project / folder).glob("lib/python3*/site-packages/pulumi_kubernetes-*.dist-info")]
    versions = [re.match(r"pulumi_kubernetes-(\d+)\.(\d+)", name) for name in names]
    found = {(int(version[1]), int(version[2])) for version in versions if version}
    return max(found) if found else None


class Holder(Enum):
    """Whether the process that took a lock still runs, as far as this host can tell."""

    RUNS = auto()
    """A process with its id runs on this host. It can be another one, because ids are used again."""
    GONE = auto()
    """No process with its id runs here. A container whose host has the same name has processes of its own."""
    ELSEWHERE = auto()
    """Another host took it."""
    UNKNOWN = auto()
    """The file does not say who took it."""


class Lock(NamedTuple):
    """A lock file. process: the id; 0: the file does not say who took it. since: in UTC, as Pulumi prints it."""

    file: Path
    user: str = ""
    host: str = ""
    process: int = 0
    since: str = ""

    @property
    def holder(self) -> Holder:
        if not self.process:
            return Holder.UNKNOWN
        if self.host != socket.gethostname():
            return Holder.ELSEWHERE
        return Holder.RUNS if _runs(self.process) else Holder.GONE

    def __str__(self) -> str:
        if not self.process:
            return "an unknown process"
        return f"{self.user}@{self.host}, process {self.process}, since {self.since}"


def folder_of(backend: str) -> Path | None:
    """The directory of a backend that keeps its state in files of this machine; None: it does not."""
    address = urlsplit(backend)
    if address.scheme != "file" or address.netloc not in ("", "~") or not (address.netloc or address.path):
        return None
    path = unquote(address.path)
    return Path.home() / path.lstrip("/") if address.netloc else Path(path)


def locks_of(backend: str, project: str, stack: str) -> list[Lock]:
    """The locks on a stack's state, each taken by a run; empty if the state is not in files on this machine."""
    folder = folder_of(backend)
    if folder is None:
        return []
    return [_read(file) for file in sorted((folder / ".pulumi/locks/organization" / project / stack).glob("*.json"))]


def _read(file: Path) -> Lock:
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        since = datetime.fromisoformat(said["timestamp"]).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lock = Lock(file, str(said["username"]), str(said["hostname"]), int(said["pid"]), since)
    except (OSError, ValueError, KeyError, TypeError):
        return Lock(file)
    return lock if lock.process > 0 else Lock(file)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's, or no id that this system could have given
    return True
