"""The locks on a stack's state that Pulumi keeps in files: who holds each one, and whether that process still runs.

Other backends keep their locks where only Pulumi reads them.
"""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


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
