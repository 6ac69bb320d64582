"""The files of a sandbox: where they are, how they are written and published, and the errors of its commands."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tenantry.messages.errors import Refused


class SandboxError(Refused):
    """A failure the user can act on. Its texts never hold a key, a token or a kubeconfig: they are shown and may be logged."""


class Unreachable(SandboxError):
    """A cluster does not answer: it is not ready yet, or its API server has ended."""


RESERVED = frozenset(
    {"bin", "buckets", "charts", "etcd", "git", "logins", "logs", "pulumi", "registry", "sandbox", "state"}
)
"""Names of the sandbox's own directories and processes, which no cluster can have."""


class Layout:
    """The paths below one sandbox directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.marker = root / ".tenantry-sandbox"
        self.record = root / "state.json"
        self.git = root / "git"
        self.charts = root / "charts"
        self.registry = root / "registry"
        self.buckets = root / "buckets"
        self.logins = root / "logins"
        """Who may fetch the content of an owner: `git/<owner>` and `oci/<owner>`, each with one `username:password`."""
        self.etcd = root / "etcd"
        self.backend = root / "state"
        """Pulumi's state of the stacks that run against the sandbox."""
        self.pulumi_home = root / "pulumi"
        self.programs = root / "bin"
        """The programs that `sandbox run` puts on PATH."""
        self.logs = root / "logs"

    def cluster(self, name: str) -> Path:
        return self.root / name

    def kubeconfig(self, cluster: str) -> Path:
        """The administrator's kubeconfig of a cluster."""
        return self.cluster(cluster) / "kubeconfig"

    def log(self, owner: str, part: str) -> Path:
        return self.logs / f"{owner}-{part}.log"

    def exists(self) -> bool:
        return self.marker.is_file()

    def claim(self) -> bool:
        """Make the directory a sandbox; returns whether it was not one before.

        Raises:  SandboxError: the directory holds something else, which a later `down` would delete.
        """
        if self.exists():
            return False
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if any(self.root.iterdir()):
            self.require()
        write_private(self.marker, b"A sandbox of tenantry. `tenantry sandbox down` removes this directory.\n")
        return True

    def remove(self) -> None:
        """Delete the directory with everything in it. Raises: SandboxError: it does not have the marker of a sandbox."""
        self.require()
        shutil.rmtree(self.root)

    def require(self) -> None:
        """Raises: SandboxError: the directory is not a sandbox."""
        if not self.exists():
            message = f"{self.root} is not a sandbox: it lacks the file {self.marker.name}"
            raise SandboxError(message, "name another directory, or remove this one by hand")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other commands from working on this sandbox; the lock ends with the process, however that ends."""
        with self.marker.open("rb") as marker:
            try:
                fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as busy:
                message = f"another command is working on the sandbox in {self.root}"
                raise SandboxError(message, "wait until it has finished, then run the command again") from busy
            yield


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = path.with_name(f"{path.name}.new")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
    scratch.replace(path)


def publish_files(files: Mapping[str, bytes], target: Path) -> None:
    """Make the directory hold exactly these files, written in this order; unchanged files are not written."""
    for name, data in files.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != data:
            write_private(path, data)
    # Backwards, so that a directory comes after what was in it.
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(target).as_posix() not in files:
            path.unlink()
