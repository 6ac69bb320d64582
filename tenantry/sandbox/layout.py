"""The files of a sandbox: where they are, how they are written and published, and the errors of its commands."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tenantry.messages.errors import Refused


class SandboxError(Refused):
    """A failure the user can act on. Its texts never hold a key, a token or a kubeconfig: they are shown and may be logged."""


class Unreachable(SandboxError):
    """A cluster does not answer, be it that it is not ready yet or that its API server has ended."""


RESERVED = frozenset({"bin", "buckets", "charts", "etcd", "git", "logs", "pulumi", "registry", "sandbox", "state"})
"""Names of the sandbox's own folders and processes, which no cluster can have."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths below one sandbox directory."""

    root: Path

    @property
    def marker(self) -> Path:
        return self.root / ".tenantry-sandbox"

    @property
    def record(self) -> Path:
        return self.root / "state.json"

    @property
    def git(self) -> Path:
        return self.root / "git"

    @property
    def charts(self) -> Path:
        return self.root / "charts"

    @property
    def registry(self) -> Path:
        return self.root / "registry"

    @property
    def buckets(self) -> Path:
        return self.root / "buckets"

    @property
    def etcd(self) -> Path:
        return self.root / "etcd"

    @property
    def backend(self) -> Path:
        """Pulumi's state of the stacks that run against the sandbox."""
        return self.root / "state"

    @property
    def pulumi_home(self) -> Path:
        return self.root / "pulumi"

    @property
    def programs(self) -> Path:
        """The programs that `sandbox run` puts on PATH."""
        return self.root / "bin"

    def cluster(self, name: str) -> Path:
        return self.root / name

    def kubeconfig(self, cluster: str) -> Path:
        """The administrator's kubeconfig of a cluster."""
        return self.cluster(cluster) / "kubeconfig"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

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
            raise self._foreign()
        write_private(self.marker, b"A sandbox of tenantry. `tenantry sandbox down` removes this directory.\n")
        return True

    def remove(self) -> None:
        """Delete the directory with everything in it.

        Raises:  SandboxError: it does not carry the marker of a sandbox.
        """
        self.require()
        shutil.rmtree(self.root)

    def require(self) -> None:
        """Refuse a directory that is not a sandbox.

        Raises:  SandboxError
        """
        if not self.exists():
            raise self._foreign()

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

    def _foreign(self) -> SandboxError:
        message = f"{self.root} is not a sandbox: it lacks the file {self.marker.name}"
        return SandboxError(message, "name another directory, or remove this one by hand")


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
            _remove_empty(path)
        elif path.relative_to(target).as_posix() not in files:
            path.unlink()


def _remove_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()
