"""An official installation of Pulumi: where the user has one that is new enough, its engine needs no building.

Only what the user installed counts: a `pulumi` on PATH that is one of our own binaries is passed over.
"""

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tools import files
from tools.catalog import LANGUAGE_HOST, PROVIDER, PROVIDER_VERSION, PULUMI
from tools.store import Store

MINIMUM = (3, 187)
"""The language host that is built here is of that version, and drives the Python SDK that the program uses."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A `pulumi` on PATH and the version it reports, such as v3.259.0."""

    pulumi: Path
    version: str

    @property
    def usable(self) -> bool:
        """Whether it is new enough, and brings the host that runs Python programs."""
        numbers = re.match(r"v?(\d+)\.(\d+)", self.version)
        recent = numbers is not None and (int(numbers[1]), int(numbers[2])) >= MINIMUM
        return recent and os.access(self.pulumi.with_name(LANGUAGE_HOST), os.X_OK)

    def path_of(self, name: str) -> Path | None:
        """Where it has the tool; None: it brings no such tool, or not the version that is needed."""
        path = _plugin() if name == PROVIDER else self.pulumi.with_name(name)
        return path if path.is_file() else None


def engine(store: Store) -> Engine | None:
    """The first `pulumi` on PATH that was not built here, whether usable or not."""
    pulumi = next(_candidates(store), None)
    return Engine(pulumi, _version(pulumi, store)) if pulumi else None


def _candidates(store: Store) -> Iterator[Path]:
    built = store.tools.resolve()
    for directory in os.get_exec_path():
        pulumi = Path(directory) / PULUMI
        if os.access(pulumi, os.X_OK) and pulumi.is_file() and not pulumi.resolve().is_relative_to(built):
            yield pulumi


def _plugin() -> Path:
    """The provider in the user's own Pulumi home.

    Not in $PULUMI_HOME: the sandbox and the tests point that at a directory which they fill from here.
    """
    return Path.home() / ".pulumi" / "plugins" / f"resource-kubernetes-v{PROVIDER_VERSION}" / PROVIDER


@dataclass(frozen=True, slots=True)
class _Seen:
    """A version once asked for, and the file that gave it: asking takes longer than everything else in finding a tool."""

    pulumi: str
    modified: int
    size: int
    version: str = ""


def _version(pulumi: Path, store: Store) -> str:
    status = pulumi.stat()
    known = store.root / "official.json"
    # Without a readable note the version is asked for once more.
    with contextlib.suppress(OSError, ValueError, TypeError):
        seen = _Seen(**json.loads(known.read_text()))
        if (seen.pulumi, seen.modified, seen.size) == (str(pulumi), status.st_mtime_ns, status.st_size):
            return seen.version
    version = _ask(pulumi)
    note = _Seen(str(pulumi), status.st_mtime_ns, status.st_size, version)
    # A cache that cannot be written costs time only.
    with contextlib.suppress(OSError):
        files.replace_text(known, json.dumps(asdict(note)))
    return version


def _ask(pulumi: Path) -> str:
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run([pulumi, "version"], env=environment, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip()
