"""Folders as archives, and directories of published files.

Archives depend on nothing but the files' names and contents, and files that are as they should be are not written again:
publishing what has not changed changes nothing for Flux.
"""

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from tenantry.sandbox.layout import write_private

EPOCH = 946684800
CREATED = "2000-01-01T00:00:00Z"
"""The same time in two forms: for archives, and for their descriptions."""


def packed(folder: Path, below: str = "") -> bytes:
    """Every file of a folder as a compressed archive, the paths in it beginning with `below`."""
    archive = io.BytesIO()
    # A file name or a time in the gzip header would differ from run to run.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=archive, mtime=EPOCH) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as members,
    ):
        for name, data in files_of(folder).items():
            _add(members, f"{below}{name}", data)
    return archive.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of a folder's files by their path in it; empty if there is no such folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def publish(files: Mapping[str, bytes], target: Path) -> None:
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


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(data), EPOCH, 0o644
    archive.addfile(member, io.BytesIO(data))


def _remove_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()
